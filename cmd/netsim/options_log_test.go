package main

// logOptionRows returns the rows of optionRows for the commands that archive, restore and
// move the log.
func logOptionRows() map[string]option {
	const (
		lost  = "internal/faults/recovery_page_test.go TestTheClusterIsLost"
		moved = "internal/faults/recovery_page_test.go TestTheLogIsMoved"
		swept = "internal/faults/archive_test.go TestAnArchiveAfterASuccession"
		to    = "log archive --to x "
		pause = "must be at least 1ms"
	)
	return map[string]option{
		"log archive --to":       {to, lost, map[string]string{"log archive": "missing flags: --to"}},
		"log archive --follow":   {to + "--follow", "internal/faults/archive_test.go TestAnArchiveFollowsTheLog", nil},
		"log archive --every":    {to + "--every 1s", "internal/faults/archive_test.go TestAnArchiveFollowsTheLog", map[string]string{to + "--every 0s": pause}},
		"log archive --trust":    {to + "--trust k", "internal/faults/archive_test.go TestAnArchiveAfterASuccession", nil},
		"log sweep <from>":       {"log sweep x", swept, map[string]string{"log sweep": "expected \"<from>\""}},
		"log sweep --key":        {"log sweep x --key k", swept, nil},
		"log sweep --dry-run":    {"log sweep x --dry-run", swept, nil},
		"log restore <from>":     {"log restore x", lost, map[string]string{"log restore": "expected \"<from>\""}},
		"log restore --key":      {"log restore x --key k", "internal/faults/archive_test.go TestAnArchiveAfterASuccession", nil},
		"log mirror <from>":      {"log mirror localhost:1", moved, map[string]string{"log mirror": "expected \"<from>\""}},
		"log mirror --follow":    {"log mirror localhost:1 --follow", "internal/faults/archive_test.go TestAMirrorFollowsTheLog", map[string]string{"log mirror x --follow --finish": "end the command with --follow first"}},
		"log mirror --every":     {"log mirror localhost:1 --every 1s", "internal/faults/archive_test.go TestAMirrorFollowsTheLog", map[string]string{"log mirror x --every 0s": pause}},
		"log mirror --finish":    {"log mirror localhost:1 --finish", moved, nil},
		"log adopt --reason":     {"log adopt --reason r", lost, nil},
		"objects missing --json": {"objects missing --json", "cmd/service/missing_objects_test.go TestMissingObjects", nil},
		"audit verify --archive": {"audit verify --archive x", lost, map[string]string{"audit verify b --archive x": "a bundle needs none"}},
	}
}
