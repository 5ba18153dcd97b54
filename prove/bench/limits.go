package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/devissuer"
)

// partitions is the number of partitions of a topic by default, as in netsim-dev.
const partitions = 4

// createTopic creates a topic that the service does not use.
func (s *stack) createTopic(ctx context.Context, name string) error {
	client := (&broker.Connector{}).Client(s.brokers(), answerWithin)
	made, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: name, NumPartitions: partitions, ReplicationFactor: 1},
	}})
	if err == nil {
		err = made.Errors[name]
	}
	if errors.Is(err, kafka.TopicAlreadyExists) {
		return nil
	}
	return err
}

// produceLimit measures how many records per second kafka-go's client alone produces
// with inFlight records in flight across a number of partitions. Each partition gets
// its share as one batch, which is acknowledged before the next batch. The records are
// those of created workspaces.
func (s *stack) produceLimit(ctx context.Context, inFlight, across int, d time.Duration) (limit, error) {
	const topic = "bench.produced"
	if err := s.createTopic(ctx, topic); err != nil {
		return limit{}, err
	}
	across = min(across, inFlight)
	message, err := newStream(events.WorkspacePrefix, "").next(createdWorkspace(1, devissuer.DefaultAccount), time.Now())
	if err != nil {
		return limit{}, err
	}
	var headers []kafka.Header
	for _, h := range message.Headers {
		headers = append(headers, kafka.Header{Key: h.Key, Value: h.Value})
	}
	client := (&broker.Connector{}).Client(s.brokers(), answerWithin)
	rates := make([]float64, across)
	group, ctx := errgroup.WithContext(ctx)
	for partition := range across {
		group.Go(func() (err error) {
			rates[partition], err = repeat(ctx, d, func() (int, error) {
				records := make([]kafka.Record, inFlight/across)
				for i := range records {
					records[i] = kafka.Record{Key: kafka.NewBytes(message.Key), Value: kafka.NewBytes(message.Value), Headers: headers}
				}
				res, err := client.Produce(ctx, &kafka.ProduceRequest{
					Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...),
				})
				if err == nil {
					err = res.Error
				}
				return len(records), err
			})
			return err
		})
	}
	err = group.Wait()
	total := 0.0
	for _, rate := range rates {
		total += rate
	}
	return limit{Name: fmt.Sprintf("produced records, %s in flight", number(float64(inFlight))), Value: total}, err
}

// copyLimit measures how many rows per second one connection copies into a table with
// the columns of a read model's table and without indexes. Each transaction copies
// batch rows.
func (s *stack) copyLimit(ctx context.Context, table string, batch int, d time.Duration) (limit, error) {
	rows, err := s.pool.Query(ctx, fmt.Sprintf("SELECT * FROM %s LIMIT %d", table, batch))
	if err != nil {
		return limit{}, err
	}
	var columns []string
	for _, column := range rows.FieldDescriptions() {
		columns = append(columns, column.Name)
	}
	values, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	if err != nil {
		return limit{}, err
	}
	for i := 0; len(values) < batch; i++ {
		values = append(values, values[i])
	}
	target := "netsim.bench_" + table
	if _, err := s.pool.Exec(ctx, fmt.Sprintf("CREATE TABLE %s (LIKE %s)", target, table)); err != nil {
		return limit{}, err
	}
	rate, err := repeat(ctx, d, func() (int, error) {
		n, err := s.pool.CopyFrom(ctx, pgx.Identifier{"netsim", "bench_" + table}, columns, pgx.CopyFromRows(values))
		return int(n), err
	})
	_, dropped := s.pool.Exec(ctx, "DROP TABLE "+target)
	return limit{Name: fmt.Sprintf("COPY rows of %s, %d a transaction", table, batch), Value: rate}, errors.Join(err, dropped)
}

// emptyLimit measures how many requests per second the same clients make to a server
// that checks the same token and does nothing else.
func (s *stack) emptyLimit(ctx context.Context, count int, method string, body []byte, d time.Duration) (limit, error) {
	empty, err := s.startChild(ctx, "empty")
	if err != nil {
		return limit{}, err
	}
	conns, hangUp, err := empty.dial(count)
	if err != nil {
		return limit{}, errors.Join(err, empty.stop())
	}
	defer hangUp()
	got, err := load(ctx, plan{warm: d / 4, run: d}, each(conns, func(_ int, c *conn) client {
		return client{do: func() error {
			_, err := c.want(http.StatusNoContent, method, "/api/v1/workspaces", body)
			return err
		}}
	}))
	return limit{Name: fmt.Sprintf("empty handler with auth, %s", plural(count, "client")), Value: got.PerSecond}, errors.Join(err, empty.stop())
}

// startChild starts one of the bench's own servers (child.go) as a process.
func (s *stack) startChild(ctx context.Context, name string) (*service, error) {
	address, issuer := freeAddress(), s.parts["issuer"]
	p := &process{
		cmd: exec.Command(s.binaries.self, childCommand, name, address,
			issuer.Issuer, issuer.JWKSURL, s.brokers()[0], s.parts["postgres"].URL),
		said: filepath.Join(s.dir, name+".log"),
	}
	if err := p.start(); err != nil {
		return nil, err
	}
	if err := awaitReady(ctx, "http://"+address+readyPath); err != nil {
		return nil, errors.Join(err, p.stop(), p.complaint())
	}
	return &service{process: p, target: target{address, s.token}}, nil
}
