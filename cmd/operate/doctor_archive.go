package operate

import (
	"context"
	"errors"
	"os"

	"netsim/audit"
	"netsim/cmd/connections"
	"netsim/infra/doctor"
	"netsim/stream/archive"
)

// archive checks that the archive can be listed and read, and continued with the audit
// key. It writes nothing.
func (x *examination) archive(ctx context.Context) doctor.Result {
	key, err := audit.ReadKey(x.config.AuditKey)
	if err != nil {
		return doctor.Failure("see the check of the audit key", "%v", err)
	}
	target, err := connections.ArchiveTarget(&x.config, x.config.Archive, connections.Observer{})
	if err != nil {
		return doctor.Failure("correct NETSIM_ARCHIVE", "NETSIM_ARCHIVE is %q: %v", x.config.Archive, err)
	}
	last, err := archive.Newest(ctx, target, []string{key.Verifier})
	switch {
	case errors.Is(err, os.ErrNotExist):
		return doctor.Good("%s does not exist yet", x.config.Archive)
	case err != nil:
		return doctor.Failure("correct NETSIM_ARCHIVE, or the rights to it: list, read and write; after another audit key, 'netsim log archive --trust OLDKEY'", "%v", err)
	case last.Number == 0:
		return doctor.Good("%s is empty", x.config.Archive)
	}
	return doctor.Good("%s has %d segments, the last one signed by the audit key", x.config.Archive, last.Number)
}
