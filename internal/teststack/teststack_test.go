package teststack_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"

	"netsim/infra/devissuer"
	"netsim/infra/wait"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

func TestBrokerKeepsAcknowledgedRecordsThroughKill(t *testing.T) {
	t.Parallel()
	p := teststack.Start(t, teststack.BrokerPart(), t.TempDir())
	client := newClient(p.Addr)
	createTopic(t, client, "kept")
	before := produce(t, client, "kept", "one")

	p.Kill()
	p.Restart()

	client = newClient(p.Addr) // the old client's pooled connections died with the broker
	if after := produce(t, client, "kept", "two"); after != before+1 {
		t.Errorf("offset after the restart = %d, want %d", after, before+1)
	}
}

func TestSharedBrokerTakesTopicsWithDefaultReplication(t *testing.T) {
	t.Parallel()
	client := newClient(teststack.Broker(t)...)
	createTopic(t, client, "teststack.default-replication")
	if offset := produce(t, client, "teststack.default-replication", "one"); offset != 0 {
		t.Errorf("first offset = %d, want 0", offset)
	}
}

func TestObjectsHasAFreshBucket(t *testing.T) {
	t.Parallel()
	store := teststack.Objects(t)
	client := s3.New(s3.Options{
		BaseEndpoint: &store.Endpoint,
		Region:       store.Region,
		UsePathStyle: true,
		Credentials:  credentials.NewStaticCredentialsProvider(store.AccessKey, store.SecretKey, ""),
	})
	list, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &store.Bucket})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Contents) != 0 {
		t.Errorf("the new bucket has %d objects, want none", len(list.Contents))
	}
}

func TestIssuerIsFoundByDiscoveryAndRotates(t *testing.T) {
	t.Parallel()
	issuer := teststack.NewIssuer(t)
	// Each use has its own verifier: the library may reuse the keys of a fetch that
	// has just ended instead of fetching new ones.
	newVerifier := func() *oidc.IDTokenVerifier {
		provider, err := oidc.NewProvider(t.Context(), issuer.URL)
		if err != nil {
			t.Fatal(err)
		}
		return provider.Verifier(&oidc.Config{ClientID: issuer.Audience})
	}
	first := issuer.Token(devissuer.Options{})
	if _, err := newVerifier().Verify(t.Context(), first); err != nil {
		t.Error(err)
	}
	issuer.Rotate()
	verifier := newVerifier()
	for _, token := range []string{first, issuer.Token(devissuer.Options{Service: true})} {
		if _, err := verifier.Verify(t.Context(), token); err != nil {
			t.Error(err)
		}
	}
	if _, err := verifier.Verify(t.Context(), issuer.Token(devissuer.Options{TTL: -time.Minute})); err == nil {
		t.Error("Verify of an expired token: no error")
	}
}

func TestPostgresDatabasesAreSeparate(t *testing.T) {
	t.Parallel()
	for _, url := range []string{teststack.Postgres(t), teststack.Postgres(t)} {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		if _, err := conn.Exec(t.Context(), "create table same_name (id int)"); err != nil {
			t.Error(err)
		}
	}
}

func TestPostgresKeepsDataThroughKill(t *testing.T) {
	t.Parallel()
	p := teststack.Start(t, "postgres", t.TempDir())
	conn, err := pgx.Connect(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	const write = "set synchronous_commit = on; create table kept (id int); insert into kept values (7)"
	if _, err := conn.Exec(t.Context(), write); err != nil {
		t.Fatal(err)
	}
	addr := p.Addr

	p.Kill()
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("postgres still answers after Kill")
	}
	p.Restart()

	if p.Addr != addr {
		t.Errorf("address after the restart = %s, want %s", p.Addr, addr)
	}
	conn, err = pgx.Connect(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var id int
	if err := conn.QueryRow(t.Context(), "select id from kept").Scan(&id); err != nil || id != 7 {
		t.Errorf("row after the restart = %d, %v; want 7", id, err)
	}
}

// newClient returns a client with its own connection pool.
func newClient(brokers ...string) *kafka.Client {
	return &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: 10 * time.Second, Transport: &kafka.Transport{}}
}

func createTopic(t *testing.T, client *kafka.Client, topic string) {
	t.Helper()
	res, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: topic, NumPartitions: 1, ReplicationFactor: -1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Errors[topic]; err != nil {
		t.Fatal(err)
	}
}

// produce repeats what a broker refuses that has just started and does not lead the partition
// yet.
func produce(t *testing.T, client *kafka.Client, topic, value string) int64 {
	t.Helper()
	for begun := time.Now(); ; {
		res, err := client.Produce(t.Context(), &kafka.ProduceRequest{
			Topic:        topic,
			RequiredAcks: kafka.RequireAll,
			Records:      kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte(value))}),
		})
		if err == nil {
			err = res.Error
		}
		switch {
		case err == nil:
			return res.BaseOffset
		case !errors.Is(err, kafka.NotLeaderForPartition) || time.Since(begun) > testwait.Limit(t):
			t.Fatal(err)
		}
		if err := wait.For(t.Context(), 100*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoAddressIsGivenTwice(t *testing.T) {
	t.Parallel()
	given := map[string]bool{}
	for range 200 { // of 5,000: without a reservation, two are the same in 98 % of the runs
		address := teststack.FreeAddress(t)
		if given[address] {
			t.Fatalf("%s was given twice", address)
		}
		given[address] = true
	}
}
