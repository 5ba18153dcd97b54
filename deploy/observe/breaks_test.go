//go:build tools

package observe_test

import (
	"syscall"
	"time"
)

const (
	unavailable, errorsPage, errorsTicket = "NetsimUnavailable/page", "NetsimRequestErrors/page", "NetsimRequestErrors/ticket"
	roleDown, processDown                 = "NetsimRoleUnavailable/page", "NetsimProcessDown/ticket"
	writesPage, writesTicket              = "NetsimWritesSlow/page", "NetsimWritesSlow/ticket"
	readsPage, readsTicket                = "NetsimReadsSlow/page", "NetsimReadsSlow/ticket"
	letters                               = "NetsimDeadLetters/ticket"
	collectors, behind                    = "NetsimCollectorErrors/ticket", "NetsimProjectionBehind/page"
)

// breaks lists what breaks.
func breaks() []broken {
	var release func()
	var stop func()
	var mend func()
	return []broken{
		{
			name: "poison", alerts: []string{"NetsimStreamsParked/ticket"}, sized: true,
			break_: func(s *site) { s.park() },
			mend:   func(s *site) { s.unpark() },
		},
		{
			name: "reaction", alerts: []string{letters}, sized: true,
			break_: func(s *site) {
				id := s.workspace("deleted")
				s.sql("ALTER TABLE readmodel.mapping_files RENAME TO lost") // the deletion of a workspace reads it
				s.user().Delete("/api/v1/workspaces/" + id).Want(202)
			},
			mend: func(s *site) {
				s.sql("ALTER TABLE readmodel.lost RENAME TO mapping_files")
				s.tool("reactions", "retry", "--all")
			},
		},
		{
			name: "slow reaction", alerts: []string{"NetsimReactionsBehind/ticket"},
			break_: func(s *site) {
				id := s.workspace("deleted")
				release = s.lock("readmodel.mapping_files", "ACCESS EXCLUSIVE")
				s.user().Delete("/api/v1/workspaces/" + id).Want(202)
			},
			mend: func(s *site) { release(); s.settle() },
		},
		{
			name: "forged records", alerts: []string{"NetsimForgedRecords/page"},
			break_: func(s *site) { s.forge() },
			mend:   func(*site) {},
		},
		{
			name: "topic settings", alerts: []string{"NetsimLogRefused/page"},
			also:   []string{unavailable, roleDown, errorsPage, errorsTicket},
			break_: func(s *site) { s.retain("86400000") },
			mend:   func(s *site) { s.retain("-1") },
		},
		{
			name: "level", alerts: []string{"NetsimUpgradeUnfinished/ticket"},
			break_: func(s *site) { s.sql("DELETE FROM netsim.release_level") },
			mend:   func(s *site) { s.tool("upgrade", "finish") },
		},
		{
			name: "checkpoint", alerts: []string{"NetsimCheckpointsLate/ticket"},
			break_: func(s *site) { s.signLate() },
			mend:   func(s *site) { s.tool("audit", "checkpoint", "--name", "by-hand") },
		},
		{
			name: "accrual", alerts: []string{"NetsimBillingLate/ticket"},
			break_: func(s *site) {
				s.sql("INSERT INTO netsim.accrual (through) VALUES (current_date - 4) ON CONFLICT (one) DO UPDATE SET through = excluded.through")
			},
			mend: func(s *site) { s.restart("worker") },
		},
		{
			name: "results refused", alerts: []string{"NetsimRunsFailing/ticket"}, also: []string{"NetsimObjectStoreFailing/page"},
			break_: func(s *site) { s.failRuns() },
			mend:   func(s *site) { s.stores["worker"].heal() },
		},
		{
			name: "engine", alerts: []string{"NetsimRunsStalled/ticket", "NetsimRunsWaiting/ticket"}, also: []string{"NetsimRunsFailing/ticket"},
			break_: func(s *site) { mend = s.stallRuns() },
			mend:   func(*site) { mend() },
		},
		{
			name: "job", alerts: []string{"NetsimJobsLate/ticket"}, also: []string{"NetsimObjectStoreFailing/page"},
			break_: func(s *site) { s.failJob() },
			mend: func(s *site) {
				s.stores["worker"].heal()
				s.sql("UPDATE jobs.river_job SET scheduled_at = now() WHERE state = 'retryable'")
			},
		},
		{
			name: "object store", alerts: []string{"NetsimObjectStoreFailing/page"}, also: []string{roleDown, "NetsimLakeBehind/ticket", "NetsimArchiveBehind/ticket"},
			break_: func(s *site) {
				for _, g := range s.stores {
					g.refuse("", "")
				}
			},
			mend: func(s *site) {
				for _, g := range s.stores {
					g.heal()
				}
			},
		},
		{
			name: "lake", alerts: []string{"NetsimLakeBehind/ticket"}, also: []string{"NetsimObjectStoreFailing/page"},
			break_: func(s *site) { s.stores["lake"].refuse("PUT", "") },
			mend:   func(s *site) { s.stores["lake"].heal() },
		},
		{
			name: "archive", alerts: []string{"NetsimArchiveBehind/ticket"}, also: []string{"NetsimObjectStoreFailing/page"},
			break_: func(s *site) { s.stores["archiver"].refuse("PUT", "") },
			mend:   func(s *site) { s.stores["archiver"].heal() },
		},
		{
			name: "issuer", alerts: []string{"NetsimTokenIssuerFailing/page"}, also: []string{unavailable, errorsPage},
			break_: func(s *site) { s.issuer.down.Store(true) },
			mend:   func(s *site) { s.issuer.down.Store(false) },
		},
		{
			name: "certificate", alerts: []string{"NetsimCertificateExpires/page", "NetsimCertificateExpires/ticket"}, sized: true,
			break_: func(s *site) { s.issuer.renew(time.Hour) },
			mend:   func(s *site) { s.issuer.renew(90 * 24 * time.Hour) },
		},
		{
			name: "schema registry", alerts: []string{"NetsimSchemaRegistryFailing/ticket"},
			break_: func(s *site) { s.registry.down.Store(true); s.restart("publisher") },
			mend:   func(s *site) { s.registry.down.Store(false); s.restart("publisher") },
		},
		{
			name: "public topic", alerts: []string{"NetsimPublicTopicsBehind/ticket"}, sized: true,
			break_: func(s *site) { mend = s.refuseFacts() },
			mend:   func(*site) { mend() },
		},
		{
			name: "webhooks", alerts: []string{"NetsimWebhooksBehind/ticket"}, also: []string{roleDown},
			break_: func(s *site) { s.sql("ALTER TABLE webhooks.positions RENAME TO lost"); s.restart("reactor") },
			mend:   func(s *site) { s.sql("ALTER TABLE webhooks.lost RENAME TO positions") },
		},
		{
			name: "receiver gone", alerts: []string{"NetsimWebhooksDisabled/ticket"},
			break_: func(s *site) { s.loseReceiver() },
			mend:   func(*site) {}, // the hour after which the alert ends is scaled, too
		},
		{
			name: "quota", alerts: []string{"NetsimAccountsRefused/ticket"},
			break_: func(s *site) { stop = s.repeat(3, "POST", "/topology/validate", "{}") },
			mend:   func(*site) { stop() },
		},
		{
			name: "metrics", alerts: []string{collectors},
			break_: func(s *site) { s.sql("ALTER TABLE readmodel.parked RENAME TO lost") },
			mend:   func(s *site) { s.sql("ALTER TABLE readmodel.lost RENAME TO parked") },
		},
		{
			name: "projections", alerts: []string{behind, errorsPage, errorsTicket},
			also:   []string{unavailable, roleDown, writesPage, writesTicket, "NetsimReactionsBehind/ticket", letters, collectors},
			break_: func(s *site) { release = s.lock("readmodel.offsets", "EXCLUSIVE") },
			mend:   func(s *site) { release(); s.settle() },
		},
		{
			name: "slow database", alerts: []string{writesPage, readsPage, writesTicket, readsTicket},
			also:   []string{unavailable, errorsPage, errorsTicket, collectors},
			break_: func(s *site) { s.postgres.late.Store(int64(700 * time.Millisecond)) },
			mend:   func(s *site) { s.postgres.late.Store(0); s.settle() },
		},
		{
			name: "sessions", alerts: []string{"NetsimDatabasePoolExhausted/ticket"},
			also: []string{unavailable, errorsPage, errorsTicket, readsPage, readsTicket, writesPage, writesTicket, behind, roleDown, collectors, "NetsimReactionsBehind/ticket", letters},
			break_: func(s *site) {
				release = s.lock("readmodel.workspaces", "ACCESS EXCLUSIVE")
				stop = s.repeat(16, "GET", "/workspaces", "")
			},
			mend: func(s *site) { release(); stop(); s.settle() },
		},
		{
			name: "api frozen", alerts: []string{unavailable, processDown}, gone: true,
			// What waited for the process may be refused when it goes on.
			also:   []string{errorsPage, errorsTicket, writesPage, writesTicket, readsPage, readsTicket},
			break_: func(s *site) { s.signal("api", syscall.SIGSTOP) },
			mend:   func(s *site) { s.signal("api", syscall.SIGCONT) },
		},
		{
			name: "publisher killed", alerts: []string{roleDown, processDown}, gone: true,
			break_: func(s *site) { s.kill("publisher") },
			mend:   func(s *site) { s.restart("publisher") },
		},
		{
			name: "crash loop", alerts: []string{"NetsimProcessRestarts/ticket"}, also: []string{roleDown},
			break_: func(s *site) { s.crash("reactor", 3) },
			mend:   func(*site) {},
		},
		{
			// Not the process that has crashed before. One at its limit collects garbage all the time.
			name: "memory", alerts: []string{"NetsimMemoryNearLimit/ticket"}, also: []string{roleDown, collectors},
			break_: func(s *site) { s.restart("worker", "GOMEMLIMIT=16MiB") },
			mend:   func(s *site) { s.restart("worker") },
		},
	}
}
