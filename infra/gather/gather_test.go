package gather

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestALoneCallerIsQueriedAtOnce(t *testing.T) {
	t.Parallel()
	g := &Gather[string, int]{Query: func(_ context.Context, keys []string) (map[string]int, error) {
		return map[string]int{"one": 1}, nil
	}}
	if v, found, err := g.Get(t.Context(), "one"); v != 1 || !found || err != nil {
		t.Errorf("one: %d, %t, %v, want 1", v, found, err)
	}
	if v, found, err := g.Get(t.Context(), "two"); v != 0 || found || err != nil {
		t.Errorf("two: %d, %t, %v, want it missing", v, found, err)
	}
}

func TestManyCallersShareQueriesThatHaveNotBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var mu sync.Mutex
		var queries [][]string
		g := &Gather[string, string]{MaxQueries: 1, MaxKeys: 3, Query: func(_ context.Context, keys []string) (map[string]string, error) {
			mu.Lock()
			queries = append(queries, keys)
			mu.Unlock()
			<-release
			values := map[string]string{}
			for _, k := range keys {
				values[k] = "value of " + k
			}
			return values, nil
		}}
		var all sync.WaitGroup
		ask := func(key string) {
			all.Go(func() {
				if v, _, err := g.Get(context.Background(), key); v != "value of "+key || err != nil {
					t.Errorf("%s: got %q, %v", key, v, err)
				}
			})
			synctest.Wait()
		}
		ask("first")
		for _, key := range []string{"first", "a", "a", "b", "c"} {
			ask(key)
		}
		close(release)
		all.Wait()
		want := "[[first] [first a b] [c]]"
		if got := fmt.Sprint(queries); got != want {
			t.Errorf("queries %s, want %s: a running query accepts no more keys", got, want)
		}
	})
}

func TestAnErrorGoesToTheCallersOfItsQuery(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	g := &Gather[int, int]{Query: func(context.Context, []int) (map[int]int, error) { return nil, broken }}
	if _, _, err := g.Get(t.Context(), 1); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	g.Query = func(context.Context, []int) (map[int]int, error) { return map[int]int{1: 1}, nil }
	if v, _, err := g.Get(t.Context(), 1); v != 1 || err != nil {
		t.Errorf("after an error: got %d, %v, want 1", v, err)
	}
}

func TestACanceledCallerDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		g := &Gather[int, int]{Query: func(ctx context.Context, keys []int) (map[int]int, error) {
			select {
			case <-release:
				return map[int]int{1: 1}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		ctx, cancel := context.WithCancel(context.Background())
		left := make(chan error, 1)
		go func() { _, _, err := g.Get(ctx, 1); left <- err }()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the canceled caller got %v", err)
		}
		close(release)
		if v, _, err := g.Get(context.Background(), 1); v != 1 || err != nil {
			t.Errorf("the other caller got %d, %v", v, err)
		}
	})
}

// TestALingeringQueryWaitsForMore: a query that is not full waits for further
// keys, a full one does not.
func TestALingeringQueryWaitsForMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		queries := map[string]time.Duration{}
		began := time.Now()
		g := &Gather[string, int]{MaxKeys: 3, Linger: time.Second, Query: func(_ context.Context, keys []string) (map[string]int, error) {
			mu.Lock()
			defer mu.Unlock()
			queries[fmt.Sprint(keys)] = time.Since(began)
			return nil, nil
		}}
		var all sync.WaitGroup
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			all.Go(func() { g.Get(context.Background(), key) }) //nolint:errcheck // the queries are compared
			synctest.Wait()
		}
		all.Wait()
		want := map[string]time.Duration{"[a b c]": 0, "[d e]": time.Second}
		if fmt.Sprint(queries) != fmt.Sprint(want) {
			t.Errorf("queries after %v, want %v", queries, want)
		}
	})
}
