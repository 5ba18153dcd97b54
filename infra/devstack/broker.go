package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// brokerPartitions is how many partitions a topic created with -1 gets. Few,
// because the broker fsyncs partition after partition.
const brokerPartitions = 4

// startBroker runs the embedded Kafka broker in this process. Its log needs
// about its own size in free memory at start. Topics are never created by
// asking for them, as on the clusters we document for production.
func startBroker(o options, dir string) (*server, error) {
	addr, err := address(o.listen)
	if err != nil {
		return nil, err
	}
	// The service recognises its log by the cluster's id, so every data
	// directory has one of its own. A log in memory is new at every start.
	id := secret()
	if !o.memory {
		if id, err = remember(filepath.Join(dir, "cluster-id"), secret); err != nil {
			return nil, err
		}
	}
	opts := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.Ports(portOf(addr)),
		kfake.ClusterID(id),
		kfake.DefaultNumPartitions(brokerPartitions),
		// A consumer that died is noticed in a second where the client asks for it.
		kfake.GroupMinSessionTimeout(time.Second),
	}
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
	return &server{
		endpoint: endpoint{Addr: addr, PID: os.Getpid()},
		stop: func() error {
			cluster.Close()
			return nil
		},
	}, nil
}
