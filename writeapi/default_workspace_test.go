package writeapi_test

import (
	"testing"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// TestTheDefaultWorkspace: the whole account can read the default workspace. Only
// the user who started a run in it, a token that names the workspace, or a token of
// all workspaces can terminate and delete the run.
func TestTheDefaultWorkspace(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	own := newWorkspace(t, p.Service(t, account), "own")
	of := func(user string, workspaces ...string) *servicetest.Client {
		return p.Client(t, devissuer.Options{User: user, Account: account, Workspaces: workspaces})
	}
	owner, other := of("owner", own), of("other", own)
	run := func() string {
		id := owner.Post(simple, workload(8, phase("allReduce", "", 1024))).Want(202).Object()["simulationId"].(string)
		path := simulations + "/" + id
		owner.Eventually(path, func(r servicetest.Reply) bool { return r.Object()["status"] == "completed" })
		return path
	}
	for name, allowed := range map[string]*servicetest.Client{
		"its user": owner, "a token that names the workspace": of("third", own, events.DefaultWorkspace), "a token of all": of("fourth"),
	} {
		t.Run(name, func(t *testing.T) {
			path := run()
			other.Get(path).Want(200)
			other.Get(path + "/results").Want(200)
			other.Delete(path).Refused(403, "FORBIDDEN")
			other.Post(path+"/terminate", nil).Refused(403, "FORBIDDEN")
			allowed.Post(path+"/terminate", nil).Refused(409, "CONFLICT") // it has ended
			allowed.Delete(path).Want(200)
		})
	}
}

// TestListsOfAWorkspaceThatIsNotThere: the response does not reveal whether a
// workspace of another account exists. For a workspace of their own account, the
// caller must be a member.
func TestListsOfAWorkspaceThatIsNotThere(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	own, unnamed := newWorkspace(t, p.Service(t, account), "own"), newWorkspace(t, p.Service(t, account), "unnamed")
	foreign := newWorkspace(t, p.Service(t, servicetest.NewAccount()), "foreign")
	for _, c := range []*servicetest.Client{p.User(t, account, own), p.User(t, account)} {
		for _, path := range []string{tracesets, mappingFiles} {
			for _, workspace := range []string{foreign, events.NewID(events.WorkspacePrefix)} {
				if items := c.Get(path + "?workspaceId=" + workspace).Want(200).Object()["items"].([]any); len(items) != 0 {
					t.Errorf("%s lists %v, want nothing", path, items)
				}
			}
		}
	}
	for _, path := range []string{tracesets, mappingFiles} {
		p.User(t, account, own).Get(path+"?workspaceId="+unnamed).Refused(403, "FORBIDDEN")
	}
}
