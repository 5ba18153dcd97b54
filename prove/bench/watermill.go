package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	watersql "github.com/ThreeDotsLabs/watermill-sql/v3/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/components/forwarder"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/sync/errgroup"

	"netsim/infra/broker"
)

// newWatermill is Watermill alone, as its documentation shows it: the handler of
// a POST publishes, and the handler of a router inserts one row for each
// message.
func newWatermill(ctx context.Context, broker, database string) (childServer, error) {
	read, err := openThings(ctx, database, "watermill", false)
	if err != nil {
		return childServer{}, err
	}
	publisher, err := newPublisher(broker)
	if err != nil {
		return childServer{}, err
	}
	router, err := inserting(read, broker, peerTopic)
	if err != nil {
		return childServer{}, err
	}
	post := func(_ context.Context, id string, body []byte) error {
		return publisher.Publish(peerTopic, message.NewMessage(id, body))
	}
	return childServer{read.routes(http.StatusAccepted, post), router.Run}, nil
}

// newOutbox is the transactional outbox, as Watermill's documentation advises:
// the handler of a POST writes a row and the message in one durable transaction,
// the forwarder publishes the message, and the handler of a router inserts one
// row into another table for each message. The forwarder polls at the clients' shortest
// interval, not once a second as by default.
func newOutbox(ctx context.Context, broker, database string) (childServer, error) {
	written, err := openThings(ctx, database, "outbox_written", true)
	if err != nil {
		return childServer{}, err
	}
	read, err := openThings(ctx, database, "outbox_read", false)
	if err != nil {
		return childServer{}, err
	}
	publisher, err := newPublisher(broker)
	if err != nil {
		return childServer{}, err
	}
	router, err := inserting(read, broker, forwardedTopic)
	if err != nil {
		return childServer{}, err
	}
	db := stdlib.OpenDBFromPool(written.pool)
	outbox, err := watersql.NewSubscriber(db, watersql.SubscriberConfig{
		SchemaAdapter: watersql.DefaultPostgreSQLSchema{}, OffsetsAdapter: watersql.DefaultPostgreSQLOffsetsAdapter{},
		PollInterval: pollAfter,
	}, watermill.NopLogger{})
	if err != nil {
		return childServer{}, err
	}
	if err := outbox.SubscribeInitialize(outboxTopic); err != nil { // the first POST may come before the forwarder subscribes
		return childServer{}, err
	}
	forward, err := forwarder.NewForwarder(outbox, publisher, watermill.NopLogger{}, forwarder.Config{ForwarderTopic: outboxTopic})
	if err != nil {
		return childServer{}, err
	}
	post := func(ctx context.Context, id string, body []byte) error {
		return writeWithOutbox(ctx, db, written.table, id, body)
	}
	run := func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return router.Run(ctx) })
		group.Go(func() error { return forward.Run(ctx) })
		return group.Wait()
	}
	return childServer{read.routes(http.StatusAccepted, post), run}, nil
}

func writeWithOutbox(ctx context.Context, db *sql.DB, table, id string, body []byte) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if _, err := tx.ExecContext(ctx, "INSERT INTO "+table+" (id, body) VALUES ($1, $2)", id, body); err != nil {
		return err
	}
	inTx, err := watersql.NewPublisher(tx, watersql.PublisherConfig{SchemaAdapter: watersql.DefaultPostgreSQLSchema{}}, watermill.NopLogger{})
	if err != nil {
		return err
	}
	outbox := forwarder.NewPublisher(inTx, forwarder.PublisherConfig{ForwarderTopic: outboxTopic})
	if err := outbox.Publish(forwardedTopic, message.NewMessage(id, body)); err != nil {
		return err
	}
	return tx.Commit()
}

func newPublisher(address string) (message.Publisher, error) {
	settings := kafka.DefaultSaramaSyncPublisherConfig()
	(&broker.Connector{}).Configure(settings)
	return kafka.NewPublisher(kafka.PublisherConfig{
		Brokers: []string{address}, Marshaler: kafka.DefaultMarshaler{}, OverwriteSaramaConfig: settings,
	}, watermill.NopLogger{})
}

// inserting is a router that inserts a row for each message of a topic.
func inserting(into *things, address, topic string) (*message.Router, error) {
	settings := kafka.DefaultSaramaSubscriberConfig()
	(&broker.Connector{}).Configure(settings)
	settings.Consumer.Offsets.Initial = sarama.OffsetOldest
	subscriber, err := kafka.NewSubscriber(kafka.SubscriberConfig{
		Brokers: []string{address}, Unmarshaler: kafka.DefaultMarshaler{}, ConsumerGroup: topic, OverwriteSaramaConfig: settings,
	}, watermill.NopLogger{})
	if err != nil {
		return nil, err
	}
	router, err := message.NewRouter(message.RouterConfig{}, watermill.NopLogger{})
	if err != nil {
		return nil, err
	}
	router.AddConsumerHandler("insert", topic, subscriber, func(m *message.Message) error {
		return into.insert(m.Context(), m.UUID, m.Payload)
	})
	return router, nil
}
