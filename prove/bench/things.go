package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// peerConns is the size of a peer's pool, which is the service's default.
const peerConns = 24

// things is the table of a peer, with the HTTP handlers that insert and read its rows.
type things struct {
	pool  *pgxpool.Pool
	table string
}

// openThings creates the table. Commits wait for the disk if durable is true.
func openThings(ctx context.Context, database, table string, durable bool) (*things, error) {
	c, err := pgxpool.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	c.MaxConns = peerConns
	c.ConnConfig.RuntimeParams["synchronous_commit"] = map[bool]string{true: "on", false: "off"}[durable]
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, "CREATE TABLE public."+table+" (id text PRIMARY KEY, body jsonb NOT NULL)")
	return &things{pool: pool, table: "public." + table}, err
}

func (t *things) insert(ctx context.Context, id string, body []byte) error {
	_, err := t.pool.Exec(ctx, "INSERT INTO "+t.table+" (id, body) VALUES ($1, $2) ON CONFLICT DO NOTHING", id, body)
	return err
}

func (t *things) get(w http.ResponseWriter, r *http.Request) {
	var body []byte
	err := t.pool.QueryRow(r.Context(), "SELECT body FROM "+t.table+" WHERE id = $1", chi.URLParam(r, "id")).Scan(&body)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		http.NotFound(w, r)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Write(body) //nolint:errcheck // an error means that the client is gone
	}
}

// routes answers a POST with the status and the new id once made has returned.
func (t *things) routes(status int, made func(ctx context.Context, id string, body []byte) error) http.Handler {
	routes := chi.NewRouter()
	routes.Get(peerPath+"/{id}", t.get)
	routes.Post(peerPath, func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		id := uuid.Must(uuid.NewV7()).String()
		if err := made(r.Context(), id, body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(status)
		w.Write([]byte(id)) //nolint:errcheck // an error means that the client is gone
	})
	return routes
}

// newInserting is the least that a create needs: chi and pgx insert a row and answer.
func newInserting(ctx context.Context, database string, durable bool) (childServer, error) {
	t, err := openThings(ctx, database, map[bool]string{true: "durable", false: "asynchronous"}[durable], durable)
	if err != nil {
		return childServer{}, err
	}
	return childServer{Handler: t.routes(http.StatusCreated, t.insert)}, nil
}
