package settings

// Offline has the settings of the commands that read an archive of the log: they need
// neither brokers nor a database. Their defaults and bounds are those of Config.
type Offline struct {
	TopicPrefix string `env:"NETSIM_TOPIC_PREFIX"`
	Platform    string `env:"NETSIM_PLATFORM"`
	Key         string `env:"NETSIM_AUDIT_KEY"`
	WriterKeys  string `env:"NETSIM_WRITER_KEYS"`

	// The object store is needed only for the heads of checkpoints, the lake, and for an
	// archive in it.
	S3Endpoint  string `env:"NETSIM_S3_ENDPOINT"`
	S3Region    string `env:"NETSIM_S3_REGION"`
	S3Bucket    string `env:"NETSIM_S3_BUCKET"`
	S3AccessKey string `env:"NETSIM_S3_ACCESS_KEY"`
	S3SecretKey string `env:"NETSIM_S3_SECRET_KEY"`
}

// Online has the settings of the commands that read the log at the brokers.
type Online struct {
	Offline
	Kafka       []string `env:"NETSIM_KAFKA,required"`
	Development bool     `env:"NETSIM_DATA_DEV"`

	KafkaAccess
}

// Audit has the settings of an audit: of the event log, and optionally of the database
// with the read model to compare.
type Audit struct {
	Online
	Postgres string `env:"NETSIM_POSTGRES"`
}

// Archive has the settings of the commands that archive, restore and mirror the log. They
// need neither the database nor, for a directory, the object store.
type Archive struct {
	Online
	Partitions  int32 `env:"NETSIM_PARTITIONS" envDefault:"4" min:"1" max:"1000"`
	Replication int   `env:"NETSIM_REPLICATION" min:"-1" max:"100"`
}

// OfflineFromEnvironment reads the settings of a command that reads an archive.
func OfflineFromEnvironment() (Offline, error) {
	c, wrong := read[Offline](surroundings())
	return c, wrong.err()
}

// AuditFromEnvironment reads the settings of an audit.
func AuditFromEnvironment() (Audit, error) {
	c, wrong := read[Audit](surroundings())
	c.addContradictions(&wrong)
	return c, wrong.err()
}

// ArchiveFromEnvironment reads the settings of a command that archives, restores or mirrors
// the log.
func ArchiveFromEnvironment() (Archive, error) {
	c, wrong := read[Archive](surroundings())
	c.addContradictions(&wrong)
	return c, wrong.err()
}

// addContradictions adds settings that contradict each other, if all are right by
// themselves.
func (c *Online) addContradictions(wrong *wrongSettings) {
	if len(wrong.errs) == 0 {
		wrong.add(c.checkKafka(c.Development))
	}
}

// Config returns the settings of the object store and of the log as those of a process.
func (c *Offline) Config() Config {
	return Config{
		TopicPrefix: c.TopicPrefix, Platform: c.Platform,
		S3Endpoint: c.S3Endpoint, S3Region: c.S3Region, S3Bucket: c.S3Bucket, S3AccessKey: c.S3AccessKey, S3SecretKey: c.S3SecretKey,
	}
}

// Config returns the settings of the log at some brokers as those of a process.
func (c *Archive) Config(brokers []string) Config {
	all := c.Offline.Config()
	all.Kafka, all.KafkaAccess, all.Development = brokers, c.KafkaAccess, c.Development
	all.Partitions, all.Replication = c.Partitions, c.Replication
	return all
}
