package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	peerTopic = "bench.peer"
	peerPath  = "/api/v1/workspaces"
	// pollAfter is the interval at which a client polls.
	pollAfter = 2 * time.Millisecond
)

// peer measures the same work with Watermill alone, as its documentation shows it: the
// handler of a POST publishes a message, a router's handler inserts one row for each
// message, and the client polls until its row is visible. This guarantees less: it
// does not detect concurrent changes, and applies a message twice if it is delivered
// twice.
func (b *bench) peer(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.createTopic(ctx, peerTopic); err != nil {
		return err
	}
	if _, err := s.pool.Exec(ctx, "CREATE TABLE public.things (id text PRIMARY KEY, body jsonb NOT NULL)"); err != nil {
		return err
	}
	p, at, err := s.startChild(ctx, "peer")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	for _, clients := range []int{1, 64} {
		conns, hangUp, err := at.dial(clients)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("Watermill alone, fsync, %s", plural(clients, "client"))
		got, costs, err := b.under(ctx, s, p, "", name, plan{warm: b.warm, run: b.run}, each(conns, publishAndPoll))
		hangUp()
		if err != nil {
			return err
		}
		f := of(name, got, "")
		f.CPU = costs
		b.report.add(f, b.report.as("netsim, measured above", fmt.Sprintf("command to visible, fsync, %s", plural(clients, "client")))...)
	}
	return nil
}

func publishAndPoll(n int, c *conn) client {
	count := 0
	return client{do: func() error {
		count++
		reply, err := c.want(http.StatusAccepted, "POST", peerPath, workspaceBody(n, count))
		if err != nil {
			return err
		}
		path := peerPath + "/" + string(reply)
		for began := time.Now(); time.Since(began) < answerWithin; time.Sleep(pollAfter) {
			status, _, err := c.do("GET", path, nil)
			if err != nil || status == http.StatusOK {
				return err
			}
		}
		return fmt.Errorf("%s is not visible after %s", path, answerWithin)
	}}
}

// watermillAlone is the server that peer measures.
type watermillAlone struct {
	*http.ServeMux
	router    *message.Router
	publisher message.Publisher
	pool      *pgxpool.Pool
}

func newPeer(ctx context.Context, broker, database string) (*watermillAlone, error) {
	p := &watermillAlone{ServeMux: http.NewServeMux()}
	var err error
	if p.pool, err = pgxpool.New(ctx, database); err != nil {
		return nil, err
	}
	if p.publisher, err = kafka.NewPublisher(kafka.PublisherConfig{
		Brokers: []string{broker}, Marshaler: kafka.DefaultMarshaler{},
	}, watermill.NopLogger{}); err != nil {
		return nil, err
	}
	settings := kafka.DefaultSaramaSubscriberConfig()
	settings.Consumer.Offsets.Initial = sarama.OffsetOldest
	subscriber, err := kafka.NewSubscriber(kafka.SubscriberConfig{
		Brokers: []string{broker}, Unmarshaler: kafka.DefaultMarshaler{},
		ConsumerGroup: "bench", OverwriteSaramaConfig: settings,
	}, watermill.NopLogger{})
	if err != nil {
		return nil, err
	}
	if p.router, err = message.NewRouter(message.RouterConfig{}, watermill.NopLogger{}); err != nil {
		return nil, err
	}
	p.router.AddConsumerHandler("insert", peerTopic, subscriber, p.insert)
	p.HandleFunc("POST "+peerPath, p.post)
	p.HandleFunc("GET "+peerPath+"/{id}", p.get)
	return p, nil
}

func (p *watermillAlone) insert(m *message.Message) error {
	_, err := p.pool.Exec(m.Context(), "INSERT INTO things (id, body) VALUES ($1, $2) ON CONFLICT DO NOTHING", m.UUID, []byte(m.Payload))
	return err
}

func (p *watermillAlone) post(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := uuid.Must(uuid.NewV7()).String()
	if err := p.publisher.Publish(peerTopic, message.NewMessage(id, message.Payload(body))); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	w.Write([]byte(id)) //nolint:errcheck // the client is gone
}

func (p *watermillAlone) get(w http.ResponseWriter, r *http.Request) {
	var body []byte
	err := p.pool.QueryRow(r.Context(), "SELECT body FROM things WHERE id = $1", r.PathValue("id")).Scan(&body)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		http.NotFound(w, r)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Write(body) //nolint:errcheck // the client is gone
	}
}
