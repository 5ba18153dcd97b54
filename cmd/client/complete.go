package client

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"

	netsim "netsim/sdk/go"
	"netsim/sdk/go/api"
)

// Complete answers a shell that asks how a command line can go on, and ends the process then.
// Ids come from the service that the command would ask.
func Complete(ctx context.Context, parser *kong.Kong, t *Terminal) {
	if t.Getenv("COMP_LINE") != "" {
		kongcompletion.Register(parser, kongcompletion.WithPredictors(predictors(ctx, t)))
	}
}

const (
	completeIn = 2 * time.Second // a person waits
	mostIDs    = 50
)

// predictors have what the tag predictor of arguments and options names.
func predictors(ctx context.Context, t *Terminal) map[string]complete.Predictor {
	ids := func(list func(context.Context, *netsim.Client) iter.Seq2[string, error]) complete.Predictor {
		return complete.PredictFunc(func(a complete.Args) []string {
			ctx, cancel := context.WithTimeout(ctx, completeIn)
			defer cancel()
			return t.ids(ctx, profileOf(a.All), list)
		})
	}
	return map[string]complete.Predictor{
		"profile": complete.PredictFunc(func(complete.Args) []string {
			b, err := t.book()
			if err != nil {
				return nil
			}
			return slices.Sorted(maps.Keys(b.Profiles))
		}),
		"simulation": ids(func(ctx context.Context, c *netsim.Client) iter.Seq2[string, error] {
			return each(c.AllSimulations(ctx, api.ListSimulationsParams{Limit: new(int64(mostIDs))}), func(s api.SimulationListItem) string { return s.ID })
		}),
		"study": ids(func(ctx context.Context, c *netsim.Client) iter.Seq2[string, error] {
			return each(c.AllStudies(ctx, api.ListStudiesParams{Limit: new(int64(mostIDs))}), func(s api.StudyListItem) string { return s.ID })
		}),
		"configuration": ids(func(ctx context.Context, c *netsim.Client) iter.Seq2[string, error] {
			return each(c.AllConfigurations(ctx, api.ListConfigurationsParams{Limit: new(int64(mostIDs))}), func(s api.ConfigurationListItem) string { return s.ID })
		}),
		"template": ids(func(ctx context.Context, c *netsim.Client) iter.Seq2[string, error] {
			return each(c.AllTemplates(ctx, api.ListTemplatesParams{Limit: new(int64(mostIDs))}), func(s api.TemplateListItem) string { return s.ID })
		}),
		"workspace": ids(func(ctx context.Context, c *netsim.Client) iter.Seq2[string, error] {
			return each(c.AllWorkspaces(ctx, api.ListWorkspacesParams{Limit: new(int64(mostIDs))}), func(s api.WorkspaceListItem) string { return s.ID })
		}),
	}
}

// each iterates over the ids of a list.
func each[T any](list iter.Seq2[T, error], id func(T) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for item, err := range list {
			if !yield(id(item), err) {
				return
			}
		}
	}
}

// ids returns the first ids of a list; none if the service cannot be asked.
func (t *Terminal) ids(ctx context.Context, profile string, list func(context.Context, *netsim.Client) iter.Seq2[string, error]) (all []string) {
	p, err := t.resolve(profile)
	if err != nil {
		return nil
	}
	c, err := netsim.New(netsim.Config{URL: p.URL, Tokens: p.tokens(t, http.DefaultClient), Retries: -1})
	if err != nil {
		return nil
	}
	for id, err := range list(ctx, c) {
		if err != nil || len(all) == mostIDs {
			return all
		}
		all = append(all, id)
	}
	return all
}

// profileOf returns the profile that a command line names.
func profileOf(words []string) string {
	for i, word := range words {
		if name, is := strings.CutPrefix(word, "--profile="); is {
			return name
		}
		if word == "--profile" && i+1 < len(words) {
			return words[i+1]
		}
	}
	return ""
}
