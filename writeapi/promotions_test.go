package writeapi_test

import (
	"testing"

	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// TestTheAnswerToAPromotionIsItsOwn: the response shows the scope of this promotion, even
// if another client promotes the traceset further right after it.
func TestTheAnswerToAPromotionIsItsOwn(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	const rounds = 16
	for range rounds {
		path := tracesets + "/" + storeTraceset(t, p, account, workspace, []string{"a.0.et"}, nil) + "/promote"
		further := make(chan servicetest.Reply, 1)
		go func() {
			for {
				r := user.Post(path, object{"target": "public"})
				if r.Status != 412 { // 412 until the traceset is promoted to the account
					further <- r
					return
				}
			}
		}()
		own := user.Post(path, object{"workloadMetadata": object{"workloadFamily": "ring"}}).Want(200).Object()
		if own["scope"] != "tenant" || own["promotionApplied"] != true {
			t.Errorf("promotion to the account: got %v, want the scope tenant, applied", own)
		}
		if r := testwait.Receive(t, further, "the further promotion"); r.Status != 200 || r.Object()["scope"] != "public" {
			t.Errorf("promotion to the public: got %d %s, want the scope public", r.Status, r.Body)
		}
	}
}
