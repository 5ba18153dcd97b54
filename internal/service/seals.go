package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/health"
)

// readWriterKeys parses the writer keys in a setting. It returns nil when there are none.
func readWriterKeys(setting string) (*events.WriterKeys, error) {
	keys, err := events.ParseWriterKeys(splitWriterKeys(setting)...)
	if err != nil {
		return nil, fmt.Errorf("NETSIM_WRITER_KEYS: %w", err)
	}
	return keys, nil
}

// splitWriterKeys splits a list of keys at commas and white space.
func splitWriterKeys(setting string) []string {
	return strings.FieldsFunc(setting, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

var errNoWriterKeys = errors.New("NETSIM_WRITER_KEYS is not set: it must be a secret key of 64 hex digits, such as openssl rand -hex 32 prints, so that no other client of the event log can write to it, unless NETSIM_DATA_DEV is true")

// writerKeys returns the writer keys. They may be missing only in development.
func (c *Config) writerKeys() (*events.WriterKeys, error) {
	keys, err := readWriterKeys(c.WriterKeys)
	if err == nil && keys == nil && !c.Development {
		err = errNoWriterKeys
	}
	return keys, err
}

// sealLog demands seals in every partition from now on, and returns the number of
// partitions that changed. With the same first key again it changes nothing. With
// another first key it retires the previous one.
func (s *core) sealLog(ctx context.Context) (sealed int, err error) {
	for _, family := range events.Families() {
		count := s.writeLog.Partitions[family]
		for partition := range count {
			stream := events.SealStream(family, partition, count)
			result, err := handle.Command(ctx, s.handler, handle.Target{Stream: stream, PartitionKey: stream},
				handle.System(), commands.SealLog{KeyID: s.keys.Signer()})
			if err != nil {
				return sealed, fmt.Errorf("seal partition %d of %s: %w", partition, family, err)
			}
			if result.Event != nil {
				sealed++
			}
		}
	}
	return sealed, nil
}

// beginSeals demands seals in a new log before the first record is written, and
// continues an interrupted first start. In a log that is older than seals, the operator
// demands them (netsim log seal) once all processes write seals. In development
// beginSeals demands them in such a log, too.
func (s *core) beginSeals(ctx context.Context) error {
	if s.keys == nil {
		return nil
	}
	log, err := s.eventLog.Describe(ctx)
	if err != nil {
		return err
	}
	sealed, all, err := s.countSealed(ctx)
	if err != nil || sealed == all || sealed == 0 && !log.Empty() && !s.config.Development {
		return err
	}
	_, err = s.sealLog(ctx)
	return err
}

// countSealed returns how many partitions demand seals, and how many there are.
func (s *core) countSealed(ctx context.Context) (sealed, all int, err error) {
	err = s.pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE sealing <> ''), count(*) FROM offsets`).Scan(&sealed, &all)
	if err != nil {
		return 0, 0, fmt.Errorf("read which partitions are sealed: %w", err)
	}
	return sealed, all, nil
}

// probeSeals warns while records without a seal are facts, and after a record
// was judged forged.
func (s *core) probeSeals(ctx context.Context) health.State {
	sealed, all, err := s.countSealed(ctx)
	if err != nil {
		return health.Failed(err)
	}
	switch forged := s.forged(); {
	case sealed < all && s.keys == nil:
		return health.State{Message: "there is no writer key: any client of the event log can write to it"}
	case sealed < all:
		return health.State{Message: fmt.Sprintf("%d of %d partitions accept records without a seal: netsim log seal ends that", all-sealed, all)}
	case forged > 0:
		return health.State{Message: fmt.Sprintf("%d forged records came since the start", forged)}
	}
	return health.State{}
}

// forged returns how many records this process has judged forged.
func (s *core) forged() int64 { return s.projector.Report().Verdicts[events.Forged] }

// SealLog demands seals with the first key of the settings in every partition from now
// on. It returns the number of partitions that changed.
func (t *Tools) SealLog(ctx context.Context) (sealed int, err error) {
	if t.core.keys == nil {
		return 0, errNoWriterKeys
	}
	err = t.writing(ctx, func(ctx context.Context) error {
		sealed, err = t.core.sealLog(ctx)
		return err
	})
	return sealed, err
}
