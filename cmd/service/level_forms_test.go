package service_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/audit"
	"netsim/events"
	"netsim/infra/projector"
	"netsim/infra/replicas"
	"netsim/infra/web"
)

// forms are what a release of a level writes.
type forms struct {
	Types  []string       `json:"types"`  // of events
	Record events.Message `json:"record"` // an event with its frame and seal
	Note   string         `json:"note"`   // a signed checkpoint of the log
	Cursor string         `json:"cursor"` // of a list
	Token  string         `json:"token"`  // a Consistency-Token
}

// The arguments of the forms. They never change.
var (
	formSecret   = strings.Repeat("5a", 32)
	formTime     = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	formBinding  = []byte("list")
	formPlain    = []byte("after this row")
	formPosition = projector.PositionOf(
		events.Position{Family: events.Workspaces, Partition: 0, Offset: 300},
		events.Position{Family: events.Workspaces, Partition: 1, Offset: 7},
		events.Position{Family: events.Checkpoints, Partition: 1, Offset: 1},
	)
	formLog = replicas.LogID{1, 2, 3, 4, 5, 6, 7, 8}
)

func formKeys(t *testing.T) (*events.WriterKeys, *web.Cursors, *replicas.Tokens) {
	t.Helper()
	now := func() time.Time { return formTime }
	seals, err := events.ParseWriterKeys(formSecret)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := hex.DecodeString(formSecret)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := replicas.Keys([][]byte{secret})
	if err != nil {
		t.Fatal(err)
	}
	cursors, err := web.NewCursors(keys, now)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := replicas.NewTokens(formLog, keys, now)
	if err != nil {
		t.Fatal(err)
	}
	return seals, cursors, tokens
}

// formAuditKey returns a signing key in the form of golang.org/x/mod/sumdb/note.
func formAuditKey(t *testing.T) *audit.Key {
	t.Helper()
	const name, ed25519Notes = "forms", 1
	seed := bytes.Repeat([]byte{7}, ed25519.SeedSize)
	public := append([]byte{ed25519Notes}, ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)...)
	id := sha256.Sum256(append([]byte(name+"\n"), public...))
	key, err := audit.ParseKey(fmt.Sprintf("PRIVATE+KEY+%s+%x+%s", name, id[:4], base64.StdEncoding.EncodeToString(append([]byte{ed25519Notes}, seed...))))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// written returns what this release writes.
func written(t *testing.T) forms {
	t.Helper()
	seals, cursors, tokens := formKeys(t)
	f := forms{Cursor: cursors.Seal(formBinding, formPlain), Token: tokens.Seal(formPosition)}
	for _, d := range events.Types() {
		f.Types = append(f.Types, d.EventType())
	}
	value, err := events.Encode(events.LogSealed{KeyID: "0123456789abcdef"})
	if err != nil {
		t.Fatal(err)
	}
	frame := events.Frame{
		ID: "01999999-0000-7000-8000-000000000001", Type: events.LogSealed{}.EventType(), Stream: "seal_workspaces_0", PartitionKey: "seal_workspaces_0",
		Sequence: 2, PreviousHash: events.Hash{1}, CommandID: "command", CommandDigest: "digest", Time: formTime, Actor: "system",
		CorrelationID: "correlation", CauseID: "cause", DataVersion: 1,
	}
	message, hash := frame.Message(value)
	f.Record = seals.Seal(events.Workspaces, hash, message)
	f.Note, err = audit.Checkpoint{
		Name: "2026-11-22", Time: formTime, Cluster: "cluster", Heads: events.Hash{2}, Losses: []audit.Loss{{Sequence: 1, EventID: "event"}},
		Parts: []audit.Part{{Family: events.Billing, TopicID: "topic", Partition: 0, Next: 3, Facts: 2, Rejected: 1, Digest: events.Digest{4}}},
	}.Sign(formAuditKey(t), []audit.Chain{{Stream: "acct_1", Head: events.Head{Sequence: 1, Hash: events.Hash{3}}}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const howToRaise = `; the previous release has to read what this one writes until "netsim upgrade finish": raise events.Level, write the new form only from that level on, and store its forms in a file of their own (docs/upgrading.md)`

// TestFormsOfLevel1 compares what this release writes at level 1 with what the previous
// release wrote (testdata/level-1.json, which commit cc890f9d made), and reads that. The file
// never changes: a new form needs a new level.
func TestFormsOfLevel1(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "level-1.json"))
	if err != nil {
		t.Fatal(err)
	}
	var before forms
	if err := json.Unmarshal(text, &before); err != nil {
		t.Fatal(err)
	}
	now := written(t)
	for _, name := range before.Types {
		if !slices.Contains(now.Types, name) {
			t.Errorf("this release cannot read %s", name)
		}
		if level := events.LevelOf(name); level != events.FirstLevel {
			t.Errorf("%s has level %d, want %d: it was written at that level", name, level, events.FirstLevel)
		}
	}
	for _, name := range now.Types {
		if level := events.LevelOf(name); !slices.Contains(before.Types, name) && (level <= events.FirstLevel || level > events.Level) {
			t.Errorf("%s is new and has level %d, want one from %d to %d%s", name, level, events.FirstLevel+1, events.Level, howToRaise)
		}
	}
	if diff := cmp.Diff(before.Record, now.Record); diff != "" {
		t.Errorf("the record differs (-before +now)%s:\n%s", howToRaise, diff)
	}
	if diff := cmp.Diff(before.Note, now.Note); diff != "" {
		t.Errorf("the checkpoint differs (-before +now)%s:\n%s", howToRaise, diff)
	}
	if _, err := audit.OpenCheckpoint(before.Note, formAuditKey(t).Verifier); err != nil {
		t.Errorf("the checkpoint of the previous release is not accepted: %v", err)
	}
	_, cursors, tokens := formKeys(t)
	for _, cursor := range []string{before.Cursor, now.Cursor} {
		if plain, err := cursors.Open(formBinding, cursor); err != nil || string(plain) != string(formPlain) {
			t.Errorf("the cursor %s holds %q (%v), want %q", cursor, plain, err, formPlain)
		}
	}
	if len(before.Cursor) != len(now.Cursor) || before.Cursor[:6] != now.Cursor[:6] { // version and key id; the nonce is random
		t.Errorf("the cursor is %s, was %s%s", now.Cursor, before.Cursor, howToRaise)
	}
	at, err := tokens.Open(before.Token)
	if diff := cmp.Diff(formPosition.Parts(), at.Parts()); err != nil || diff != "" {
		t.Errorf("the token of the previous release is read as %v (%v), want %v", at, err, formPosition)
	}
	was, errBefore := cursors.Open(web.Binding(replicas.Header), before.Token)
	is, err := cursors.Open(web.Binding(replicas.Header), now.Token)
	if err != nil || errBefore != nil || string(was) != string(is) {
		t.Errorf("the token holds %x (%v), held %x (%v)%s", is, err, was, errBefore, howToRaise)
	}
}
