package faults_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// TestAStudySurvivesItsWorkers kills the worker process with SIGKILL at random points of a
// study. In the end every point has one completed run, and each run is billed once.
//
// NETSIM_TEST_KILLS bounds the number of kills, and NETSIM_TEST_SEED sets the random seed.
func TestAStudySurvivesItsWorkers(t *testing.T) {
	t.Run("submissions", func(t *testing.T) {
		const points = 150
		sizes := make([]int, points)
		for i := range sizes {
			sizes[i] = 1024 * (i + 1)
		}
		newKilled(t).study(points, object{
			"name": "killed", "base": object{"simple": smallRing()},
			"axes": []object{{"field": "workload.phases[0].dataSize", "values": sizes}},
		})
	})
	t.Run("configurations", func(t *testing.T) {
		k := newKilled(t)
		k.Workspace = events.DefaultWorkspace
		run := k.Client.Post("/api/v1/simple/simulations", smallRing()).Want(202).Text("simulationId")
		const seeds = 40
		values := make([]int, seeds)
		for i := range values {
			values[i] = i + 2
		}
		id := k.study(2*seeds, object{
			"name": "killed",
			"base": object{"configuration": object{"configurationId": events.DerivedID(events.ConfigurationPrefix, run), "duration": "1s"}},
			"axes": []object{
				{"field": "globalParameters.SimulationParameters.RandomSeed.value", "values": values},
				{"field": "mappingFileId", "values": []any{nil, k.Mapping("eight.txt", "0, 7\n1, 6\n2, 5\n3, 4\n4, 3\n5, 2\n6, 1\n7, 0\n")}},
			},
		})
		const made = `SELECT count(*) FROM readmodel.configurations c JOIN readmodel.simulations s ON s.configuration_id = c.id
			WHERE s.study_id = $1 AND c.status = 'validated' AND NOT c.deleted AND c.version = s.configuration_version AND c.mapping_file_id = coalesce(s.mapping_file_id, '')`
		if n := k.count(made, id); n != 2*seeds {
			t.Errorf("%d runs have a configuration of their own, want %d", n, 2*seeds)
		}
	})
}

// smallRing is a submission of 8 ranks.
func smallRing() object {
	return object{"workload": object{"ranks": 8, "phases": []object{{"operationType": "allReduce", "dataSize": 1}}}}
}

// study runs a study of that many points, none of which are shared, with its workers killed.
func (k *killed) study(points int64, body object) (id string) {
	t := k.T
	t.Helper()
	kills, seed := kills(t, 5), servicetest.Number(t, "NETSIM_TEST_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 16))
	id = k.Client.Post("/api/v1/studies", body).Want(201).Text("id")

	// A worker is killed some time after the study has come further.
	for range kills {
		k.start()
		before := k.points(id)
		for deadline := time.Now().Add(testwait.Limit(t)); k.points(id) == before && before < points; <-time.After(2 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the study stays at %d points; its jobs: %s", before, k.jobs())
			}
		}
		<-time.After(time.Duration(random.IntN(300)) * time.Millisecond)
		k.kill()
	}
	k.start()
	for deadline := time.Now().Add(testwait.Limit(t)); k.Client.Get("/api/v1/studies/"+id).Want(200).Text("status") != "completed"; <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the study has not ended: %s", k.Client.Get("/api/v1/studies/"+id).Body)
		}
	}
	for what, query := range map[string]string{
		"runs": `SELECT count(*) FROM readmodel.simulations WHERE study_id = $1`,
		"points with a completed run": `SELECT count(DISTINCT study_point) FROM readmodel.simulations
			WHERE study_id = $1 AND status = 'completed' AND study_round = 0`,
		"runs that have completed once": `SELECT count(*) FROM (SELECT FROM readmodel.simulation_history h JOIN readmodel.simulations s ON s.id = h.simulation_id
			WHERE s.study_id = $1 AND h.status = 'completed' AND NOT h.progressed GROUP BY s.id HAVING count(*) = 1) AS ended`,
	} {
		if n := k.count(query, id); n != points {
			t.Errorf("the study has %d %s, want %d", n, what, points)
		}
	}
	const billed = `SELECT count(*) FROM readmodel.billing_items b JOIN readmodel.simulations s ON s.id = b.resource_id
		WHERE s.study_id = $1 AND b.resource_type = 'simulation' AND b.closed_by > 0`
	for deadline := time.Now().Add(testwait.Limit(t)); k.count(billed, id) < points && time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
	}
	const all = `SELECT count(*) FROM readmodel.billing_items b JOIN readmodel.simulations s ON s.id = b.resource_id
		WHERE s.study_id = $1 AND b.resource_type = 'simulation'`
	if closed, items := k.count(billed, id), k.count(all, id); closed != points || items != points {
		t.Errorf("the study has %d billing items of runs, %d of them closed, want %d", items, closed, points)
	}
	return id
}

// points returns how many points of a study have ended.
func (k *killed) points(study string) int64 {
	k.T.Helper()
	return k.count(`SELECT count(*) FROM readmodel.simulations WHERE study_id = $1 AND status = 'completed'`, study)
}

func (k *killed) count(query, id string) (n int64) {
	k.T.Helper()
	if err := k.db.QueryRow(k.T.Context(), query, id).Scan(&n); err != nil {
		k.T.Fatal(err)
	}
	return n
}

// jobs describes the jobs of the queue by kind and state.
func (k *killed) jobs() (all string) {
	k.T.Helper()
	err := k.db.QueryRow(k.T.Context(), `SELECT coalesce(string_agg(format('%s %s attempt %s: %s', kind, state, attempt, n), ', '), 'none')
		FROM (SELECT kind, state, attempt, count(*) AS n FROM jobs.river_job WHERE kind ~ 'study|simulation' GROUP BY 1, 2, 3) AS j`).Scan(&all)
	if err != nil {
		k.T.Fatal(err)
	}
	return all
}
