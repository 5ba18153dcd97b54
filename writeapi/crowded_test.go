package writeapi_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/internal/servicetest"
)

// TestAnOvertakenWriteIsRepeated: a write that was overtaken at every attempt is 409 with
// Retry-After, and has done nothing. Repeated later it succeeds. The head of the stream in
// the database is set back, so that the service decides on an old one each time, as if
// another process came first each time.
func TestAnOvertakenWriteIsRepeated(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	service := p.Service(t, servicetest.NewAccount())
	id := newWorkspace(t, service, "w")
	db, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	exchange := func(sequence int64, hash []byte) (int64, []byte) {
		t.Helper()
		var was int64
		var old []byte
		err := db.QueryRow(t.Context(), `SELECT sequence, hash FROM readmodel.streams WHERE stream = $1`, id).Scan(&was, &old)
		if err == nil && hash != nil {
			_, err = db.Exec(t.Context(), `UPDATE readmodel.streams SET sequence = $2, hash = $3 WHERE stream = $1`, id, sequence, hash)
		}
		if err != nil {
			t.Fatal(err)
		}
		return was, old
	}
	path, body := workspaces+"/"+id, map[string]any{"name": "mine"}
	sequence, hash := exchange(0, nil)
	service.Patch(path, map[string]any{"name": "of another process"}).Want(200)
	service.Get(path).Want(200) // which waits until the read model has it
	sequence, hash = exchange(sequence, hash)

	crowded := service.Patch(path, body, key("k"))
	if said, want := crowded.Refused(409, "CONFLICT"), id+" is being changed by too many requests at once; repeat the request"; said != want {
		t.Errorf("the message is %q, want %q", said, want)
	}
	if after := crowded.Header.Get("Retry-After"); after != "1" {
		t.Errorf("Retry-After is %q, want 1", after)
	}
	if got := service.Get(path).Want(200).Object()["name"]; got != "of another process" {
		t.Errorf("after the refusal the name is %q", got)
	}
	exchange(sequence, hash)
	if got := service.Patch(path, body, key("k")).Want(200).Object()["name"]; got != "mine" {
		t.Errorf("the repeated write gives the name %q", got)
	}
}
