package writeapi_test

import (
	"context"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
	"netsim/content/library"
	"netsim/content/uploads"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/simulator/mapping"
)

// atOnce sends all bodies concurrently. It returns the sorted statuses of the
// replies and the ids in them.
func atOnce(t testing.TB, bodies []object, send func(object) servicetest.Reply) (statuses []int, ids map[any]bool) {
	statuses, ids = make([]int, len(bodies)), map[any]bool{}
	var lock sync.Mutex
	var all sync.WaitGroup
	for i, body := range bodies {
		all.Go(func() {
			r := send(body)
			lock.Lock()
			defer lock.Unlock()
			if statuses[i] = r.Status; r.Status < 300 {
				ids[r.Object()["id"]] = true
			}
		})
	}
	testwait.Group(t, &all, "the requests")
	slices.Sort(statuses)
	return statuses, ids
}

func TestRacingCompletionsMakeOne(t *testing.T) {
	t.Parallel()
	p, account, workspace, _ := newUploader(t)
	user := withLockTimeout(t, p, time.Minute).User(t, account)
	complete := func(path string) func(object) servicetest.Reply {
		return func(body object) servicetest.Reply { return user.Post(path, body) }
	}
	// Concurrent completions of one session.
	set := openFiles(t, user, workspace, [2]string{"a.0.et", "x"}).completion(t, "x")
	statuses, ids := atOnce(t, []object{set, set, set, set}, complete(completeTraceset))
	if created := statuses[0] == 201 || statuses[0] == 200 && slices.Contains(statuses, 201); !created || len(ids) != 1 ||
		slices.ContainsFunc(statuses, func(s int) bool { return s != 200 && s != 201 && s != 409 }) {
		t.Errorf("one traceset session: got the statuses %v, ids %v, want one traceset", statuses, ids)
	}
	file := openMapping(t, user, workspace, "m.txt", 4).mapping(t, "0,0\n")
	statuses, ids = atOnce(t, []object{file, file, file, file}, complete(completeMappingFile))
	if !slices.Equal(statuses, []int{201, 409, 409, 409}) || len(ids) != 1 {
		t.Errorf("one mapping-file session: got the statuses %v, ids %v, want one mapping file", statuses, ids)
	}
	// Concurrent completions of several sessions with the same content.
	var sets, files []object
	for range 4 {
		sets = append(sets, openFiles(t, user, workspace, [2]string{"b.0.et", "y"}).completion(t, "y"))
		files = append(files, openMapping(t, user, workspace, "n.txt", 4).mapping(t, "0,1\n"))
	}
	statuses, ids = atOnce(t, sets, complete(completeTraceset))
	if !slices.Equal(statuses, []int{201, 201, 201, 201}) || len(ids) != 4 {
		t.Errorf("four traceset sessions: got the statuses %v, ids %v, want four tracesets", statuses, ids)
	}
	statuses, ids = atOnce(t, files, complete(completeMappingFile))
	if !slices.Equal(statuses, []int{200, 200, 200, 201}) || len(ids) != 1 {
		t.Errorf("four mapping-file sessions: got the statuses %v, ids %v, want one mapping file", statuses, ids)
	}
}

// withLockTimeout starts another process of the program that serves only the API, and whose
// requests wait that long for a lock. On a busy machine a completion may hold one for long.
func withLockTimeout(t *testing.T, p *servicetest.Program, timeout time.Duration) *servicetest.Program {
	t.Helper()
	return servicetest.Start(t, func(c *settings.Config) {
		*c = p.Config
		c.Roles, c.UploadLockTimeout = []string{settings.RoleAPI}, timeout
	})
}

// holdLock holds a lock, as another process would, until release is called.
func holdLock(t *testing.T, p *servicetest.Program, name string) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "SELECT pg_advisory_lock(hashtextextended($1, 0))", name); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() {
		ctx := context.WithoutCancel(t.Context())
		_, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock_all()") // closing the connection would unlock it only later
		_ = conn.Close(ctx)
	})
	t.Cleanup(release)
	return release
}

// TestTheSameCompletionTwice: two concurrent requests with the same key are one
// completion and get the same response.
func TestTheSameCompletionTwice(t *testing.T) {
	t.Parallel()
	p, account, workspace, _ := newUploader(t)
	user := withLockTimeout(t, p, time.Minute).User(t, account)
	set, file := openFiles(t, user, workspace, [2]string{"a.0.et", "t"}), openMapping(t, user, workspace, "t.txt", 4)
	for path, s := range map[string]struct {
		upload string
		body   object
	}{
		completeTraceset:    {set.UploadID, set.completion(t, "t")},
		completeMappingFile: {file.UploadID, file.mapping(t, "0,3\n")},
	} {
		release := holdLock(t, p, s.upload)
		replies := make(chan servicetest.Reply, 2)
		for range cap(replies) {
			go func() { replies <- user.Post(path, s.body, key("k")) }()
		}
		awaitLockWaiters(t, p, s.upload, cap(replies))
		release()
		one, other := testwait.Receive(t, replies, "a response"), testwait.Receive(t, replies, "a response")
		if one.Want(201).Object()["id"] != other.Want(201).Object()["id"] {
			t.Errorf("%s: got %s and %s, want the same resource", path, one.Body, other.Body)
		}
	}
}

// awaitLockWaiters waits until n sessions wait for a lock.
func awaitLockWaiters(t *testing.T, p *servicetest.Program, name string, n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // it was only used to read
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for got := -1; got < n; <-poll.C {
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0)`, name).Scan(&got); err != nil {
			t.Fatal(err)
		}
	}
}

func TestContentThatIsHeldTooLong(t *testing.T) {
	t.Parallel()
	p, account, workspace, patient := newUploader(t)
	impatient := withLockTimeout(t, p, 3*time.Second).User(t, account) // connecting takes some of it

	s := openMapping(t, impatient, workspace, "m.txt", 4)
	body := s.mapping(t, "0,7\n")
	release := holdLock(t, p, uploads.MappingFileLock(account, workspace, checksum("0,7\n")))
	reply := impatient.Post(completeMappingFile, body)
	if message := reply.Refused(503, "SERVICE_UNAVAILABLE"); reply.Header.Get("Retry-After") != "" || !strings.Contains(message, "open a new upload") {
		t.Errorf("got the message %s and the headers %v, want advice to open a new upload and no Retry-After", message, reply.Header)
	}
	if keys := staged(t, p, s.UploadID); len(keys) > 0 {
		t.Errorf("the objects %v are still staged", keys)
	}
	release()
	impatient.Post(completeMappingFile, body).Refused(409, "CONFLICT")
	uploadMapping(t, patient, workspace, "m.txt", "0,7\n").Want(201)

	// The completion of a traceset can be repeated in the same session.
	set := openFiles(t, impatient, workspace, [2]string{"a.0.et", "held"})
	completion := set.completion(t, "held")
	hash := library.Hash([]events.TracesetFile{{Name: "a.0.et", Size: 4, Hash: "sha256:" + hexSHA("held")}})
	release = holdLock(t, p, library.Lock(hash))
	held := impatient.Post(completeTraceset, completion)
	if held.Refused(503, "SERVICE_UNAVAILABLE"); held.Header.Get("Retry-After") == "" {
		t.Errorf("got no Retry-After with %s", held.Body)
	}
	uploadDirectly(t, impatient, workspace, nil, field{"file", "a.0.et", "held"}).Refused(503, "SERVICE_UNAVAILABLE")
	release()
	patient.Post(completeTraceset, completion).Want(201)

	// Another process holds the lock of the session.
	set = openFiles(t, impatient, workspace, [2]string{"a.0.et", "held"})
	completion = set.completion(t, "held")
	release = holdLock(t, p, set.UploadID)
	impatient.Post(completeTraceset, completion).Refused(409, "CONFLICT")
	release()
	patient.Post(completeTraceset, completion).Want(201)
}

func TestCompletionsWithoutTheStore(t *testing.T) {
	t.Parallel()
	var store *teststack.Proxy
	p := servicetest.Start(t, func(c *settings.Config) {
		store = teststack.NewProxy(t, strings.TrimPrefix(c.S3Endpoint, "http://"))
		c.S3Endpoint = "http://" + store.Addr
	})
	user := p.User(t, servicetest.NewAccount())
	file := openMapping(t, user, events.DefaultWorkspace, "m.txt", 4)
	fileBody := file.mapping(t, "0,3\n")
	set := openFiles(t, user, events.DefaultWorkspace, [2]string{"a.0.et", "x"})
	setBody := set.completion(t, "x")
	store.Refuse()
	reply := user.Post(completeMappingFile, fileBody)
	if message := reply.Refused(503, "SERVICE_UNAVAILABLE"); reply.Header.Get("Retry-After") != "" || !strings.Contains(message, "open a new upload") {
		t.Errorf("got the message %s and the headers %v, want advice to open a new upload and no Retry-After", message, reply.Header)
	}
	for what, reply := range map[string]servicetest.Reply{
		"complete": user.Post(completeTraceset, setBody),
		"direct":   uploadDirectly(t, user, events.DefaultWorkspace, nil, field{"file", "a.0.et", "x"}),
		"open":     user.Post(openMappingFile, object{"workspaceId": events.DefaultWorkspace, "sizeBytes": 1}),
	} {
		if reply.Refused(503, "SERVICE_UNAVAILABLE"); reply.Header.Get("Retry-After") == "" {
			t.Errorf("%s: got no Retry-After with %s", what, reply.Body)
		}
	}
	store.Heal()
	user.Post(completeMappingFile, fileBody).Refused(409, "CONFLICT")
	user.Post(completeTraceset, setBody).Want(201)
	awaitUnstaged(t, p, file.UploadID) // the job removes the objects
	for o, err := range storeOf(p).List(t.Context(), "mappingfiles/") {
		t.Errorf("the object %s is stored, %v, want none", o.Key, err)
	}
	list := user.Get(mappingFiles + "?workspaceId=" + events.DefaultWorkspace).Want(200).Object()
	if items := list["items"].([]any); len(items) > 0 {
		t.Errorf("got the mapping files %v, want none", items)
	}
}

// siblings returns mapping files with the same checksum. The checksum is linear, so
// the effects of some changed bits in a comment cancel each other out.
func siblings(start string) []string {
	const free = 80 // changeable characters, 16 more than the checksum has bits
	text := []byte(start + "#" + strings.Repeat("a", free) + "\n")
	sum := func() uint64 {
		crc := mapping.NewChecksum()
		_, _ = crc.Write(text)
		return crc.Sum64()
	}
	type change struct {
		effect uint64 // on the checksum
		bits   [free]bool
	}
	plain, all := sum(), []string{string(text)}
	pivots := map[uint64]change{} // by the highest bit of their effect
	for i := range free {
		at := len(start) + 1 + i
		text[at] = 'c'
		c := change{effect: sum() ^ plain}
		text[at], c.bits[i] = 'a', true
		for c.effect != 0 {
			highest := uint64(1) << (bits.Len64(c.effect) - 1)
			p, ok := pivots[highest]
			if !ok {
				pivots[highest] = c
				break
			}
			c.effect ^= p.effect
			for j := range c.bits {
				c.bits[j] = c.bits[j] != p.bits[j]
			}
		}
		if c.effect == 0 {
			sibling := slices.Clone(text)
			for j, changed := range c.bits {
				if changed {
					sibling[len(start)+1+j] = 'c'
				}
			}
			all = append(all, string(sibling))
		}
	}
	return all
}

// Mapping files with one checksum and different contents need different names, and
// at most two can exist (completions 6.6).
func TestMappingFilesOfOneChecksum(t *testing.T) {
	t.Parallel()
	_, _, workspace, user := newUploader(t)
	all := siblings("0,0\n")
	one, two, third := all[0], all[1], all[2]
	if one == two || two == third || checksum(one) != checksum(two) || checksum(two) != checksum(third) {
		t.Fatalf("%q do not have one checksum", all[:3])
	}
	first := uploadMapping(t, user, workspace, "a.txt", one).Want(201).Object()
	if message := uploadMapping(t, user, workspace, "a.txt", two).Refused(409, "MAPPING_FILE_HASH_COLLISION"); !strings.Contains(message, "'a.txt'") {
		t.Errorf("got the message %q, want the name of the other file", message)
	}
	second := uploadMapping(t, user, workspace, "b.txt", two).Want(201).Object()
	if first["hash"] != second["hash"] || first["id"] == second["id"] {
		t.Errorf("got %v and %v, want two files with one hash", first, second)
	}
	uploadMapping(t, user, workspace, "c.txt", third).Refused(409, "MAPPING_FILE_HASH_COLLISION")
	for content, want := range map[string]any{one: first["id"], two: second["id"]} {
		if got := uploadMapping(t, user, workspace, "d.txt", content).Want(200).Object()["id"]; got != want {
			t.Errorf("duplicate %v, want %v", got, want)
		}
	}
	user.Delete(mappingFiles + "/" + first["id"].(string)).Want(204)
	uploadMapping(t, user, workspace, "c.txt", third).Want(201)
}
