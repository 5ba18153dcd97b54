package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// brokerPartitions is how many partitions a topic created with -1 gets. They are
// few because the broker fsyncs the partitions one after the other.
const brokerPartitions = 4

// startBroker runs the embedded Kafka broker in this process. At start it needs
// free memory of about the size of its log. It creates no topic on demand, as
// production clusters should not either.
func startBroker(o options, dir string) (*server, error) {
	addr, err := address(o.listen)
	if err != nil {
		return nil, err
	}
	// The service identifies its event log by the cluster's id, so every data
	// directory has its own id. A log in memory gets a new id at every start.
	id := secret()
	if !o.memory {
		if id, err = readOrCreate(filepath.Join(dir, "cluster-id"), secret); err != nil {
			return nil, err
		}
	}
	opts := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.Ports(portOf(addr)),
		kfake.ClusterID(id),
		kfake.DefaultNumPartitions(brokerPartitions),
		// Lets clients ask for a session timeout as short as a second.
		kfake.GroupMinSessionTimeout(time.Second),
	}
	entry := newGate()
	opts = append(opts, kfake.ListenFn(entry.listen))
	if !o.memory {
		opts = append(opts, kfake.DataDir(filepath.Join(dir, "log")))
		if o.sync {
			opts = append(opts, kfake.SyncWrites())
		}
	}
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		return nil, err
	}
	stopped := filepath.Join(dir, "stopped") // there unless the broker was killed
	if !o.memory && os.Remove(stopped) != nil {
		err = endTransactions(context.Background(), entry)
	}
	close(entry.opened)
	if err != nil {
		cluster.Close()
		return nil, err
	}
	return &server{
		endpoint: endpoint{Addr: addr, PID: os.Getpid()},
		stop: func() error {
			cluster.Close()
			if o.memory {
				return nil
			}
			return os.WriteFile(stopped, nil, 0o600)
		},
	}, nil
}
