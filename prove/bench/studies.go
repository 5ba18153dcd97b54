package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"netsim/events"
	"netsim/infra/devissuer"
)

const studyRanks = 256 // ranks of each point

// studies measures a study whose points all have runs of their own, and then one with the
// same points, which takes all results of the first. The time is from the request until
// the study is completed.
func (b *bench) studies(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{sync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	serving, err := s.serve(ctx, allRoles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.process.stop()) }()
	account := events.NewID(events.AccountPrefix)
	if err := s.grant(ctx, account); err != nil {
		return err
	}
	token, err := devissuer.Mint(s.dir, devissuer.Options{User: "bench", Account: account}, time.Now())
	if err != nil {
		return err
	}
	conns, hangUp, err := target{serving.address, token}.dial(1)
	if err != nil {
		return err
	}
	defer hangUp()
	for _, c := range []struct{ name, reach string }{
		{"study, %s points of %d ranks", fmt.Sprintf("at most %.3g s, 15 ms of CPU a point", 12*float64(b.points)/1000)},
		{"study, the same %s points of %d ranks again", ""},
	} {
		name := fmt.Sprintf(c.name, number(float64(b.points)), studyRanks)
		if _, err := s.drain(ctx); err != nil {
			return err
		}
		profiled := make(chan error, 1)
		go func() { profiled <- b.profile(ctx, serving.ops, name, time.Duration(b.points)*30*time.Millisecond) }()
		judged, err := s.judged(ctx)
		if err != nil {
			return err
		}
		before := s.cpu(serving.process)
		took, err := runStudy(ctx, conns[0], b.points)
		if err != nil {
			return errors.Join(err, serving.complaint())
		}
		drained, err := s.drain(ctx)
		if err := errors.Join(err, <-profiled); err != nil {
			return err
		}
		f := figure{
			Name: name, Value: took.Seconds(), Unit: " s", Reach: c.reach,
			CPU: s.since(before, b.points, serving.process), DrainedIn: drained.Seconds(),
		}
		left, err := s.factsEach(ctx, judged, b.points)
		if err != nil {
			return err
		}
		b.report.add(f, left)
	}
	return nil
}

// grant gives an account credit.
func (s *stack) grant(ctx context.Context, account string) error {
	if err := s.tool(ctx, "credit", "grant", account, "1000000", "--reference", "bench").Run(); err != nil {
		return fmt.Errorf("netsim credit grant: %w", err)
	}
	return nil
}

// studyLimit is the longest time that a study may take.
const studyLimit = 10 * time.Minute

// runStudy starts a study and returns the time until it is completed. It polls, which
// costs the service little beside the runs.
func runStudy(ctx context.Context, c *conn, points int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, studyLimit)
	defer cancel()
	sizes := make([]string, points)
	for i := range sizes {
		sizes[i] = fmt.Sprint(4096 * (i + 1))
	}
	began := time.Now()
	answer, err := c.want(201, "POST", "/api/v1/studies", fmt.Appendf(nil, `{"name":"bench","base":{"simple":{"workload":
		{"ranks":%d,"phases":[{"operationType":"allReduce","algorithm":"recursiveHalvingDoubling","dataSize":1}]}}},
		"axes":[{"field":"workload.phases[0].dataSize","values":[%s]}]}`, studyRanks, strings.Join(sizes, ",")))
	if err != nil {
		return 0, err
	}
	var study struct {
		ID, Status, Reason string
		Progress           struct{ Completed, Shared int }
	}
	if err := json.Unmarshal(answer, &study); err != nil {
		return 0, err
	}
	for study.Status == "running" {
		select {
		case <-time.After(drainPoll):
		case <-ctx.Done():
			return 0, fmt.Errorf("the study has %+v: %w", study.Progress, ctx.Err())
		}
		if answer, err = c.want(200, "GET", "/api/v1/studies/"+study.ID, nil); err != nil {
			return 0, err
		}
		if err := json.Unmarshal(answer, &study); err != nil {
			return 0, err
		}
	}
	took := time.Since(began)
	if done := study.Progress.Completed + study.Progress.Shared; done != points {
		return took, fmt.Errorf("the study is %s (%s) with %d of %d points", study.Status, study.Reason, done, points)
	}
	return took, nil
}
