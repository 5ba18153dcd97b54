package readapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"netsim/api"
	"netsim/commands"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/simulator/results"
	"netsim/simulator/units"
)

// resultSet has the published files of an ended simulation, in the order in which
// they were written.
type resultSet struct {
	simulation projections.Simulation
	files      []resultFile
}

// resultFile is an entry of the manifest that a run stores with its result files.
type resultFile struct {
	Name        string `json:"name"`
	Size        int64  `json:"size"`   // bytes
	SHA256      string `json:"sha256"` // hex
	ContentType string `json:"contentType"`
	Type        string `json:"type"`
}

const maxManifest = 64 << 20 // bytes

// results reads the manifest of a simulation, which may belong to any account
// unless ResultsOwnership is set. It returns NotFound until the simulation has
// ended and its files are published (completions.md section 5.3).
func (a *API) results(ctx context.Context, id string) (resultSet, error) {
	find := a.AnySimulationRow
	if a.ResultsOwnership {
		find = a.SimulationRow
	}
	s, err := find(ctx, id)
	if err != nil {
		return resultSet{}, err
	}
	if !commands.Final(s.Status) || s.ResultsManifest == "" {
		return resultSet{}, fault.New(fault.NotFound, "simulation %s is %s and has no results", id, s.Status)
	}
	body, _, err := a.Objects.Get(ctx, s.ResultsManifest)
	if err != nil {
		return resultSet{}, fmt.Errorf("read the manifest of %s: %w", id, err)
	}
	defer body.Close() //nolint:errcheck // it was only read
	var manifest struct {
		Files []resultFile `json:"files"`
	}
	if err := json.NewDecoder(io.LimitReader(body, maxManifest)).Decode(&manifest); err != nil {
		return resultSet{}, fmt.Errorf("read the manifest of %s: %w", id, err)
	}
	return resultSet{simulation: s, files: manifest.Files}, nil
}

// GetResults implements GET /simulations/{sim_id}/results.
func (a *API) GetResults(ctx context.Context, r api.GetResultsRequestObject) (api.GetResultsResponseObject, error) {
	p := r.Params
	l, err := a.listing(ctx, r, 100)
	if err != nil {
		return nil, err
	}
	set, err := a.results(ctx, r.SimID)
	if err != nil {
		return nil, err
	}
	files := set.selected(string(p.Type), p.Metrics)
	if p.Sort == api.GetResultsParamsSortSize {
		slices.SortStableFunc(files, func(x, y resultFile) int { return cmp.Compare(x.Size, y.Size) })
	}
	if p.Order != api.GetResultsParamsOrderAsc {
		slices.Reverse(files)
	}
	s := &set.simulation
	shown, next, err := l.window(files, s.ResultsManifest)
	if err != nil {
		return nil, err
	}
	accuracy, err := a.accuracy(ctx, &set)
	if err != nil {
		return nil, err
	}
	answer := api.Results{
		SimulationID: s.ID, Duration: simulatedTime(s),
		Summary: api.ResultSummary{
			TotalPackets: s.TotalPackets, AvgLatency: units.FormatDuration(s.AvgLatencyPs),
			Throughput: throughput(s),
		},
		Accuracy:     accuracy,
		DashboardURL: a.dashboard(ctx, s.ID),
		Files:        make([]api.ResultFile, len(shown)),
		Pagination:   l.pagination(len(shown), next),
	}
	for i, f := range shown {
		link, err := a.link(ctx, s, f.Name, f.ContentType)
		if err != nil {
			return nil, err
		}
		answer.Files[i] = api.ResultFile{
			Type: api.ResultFileType(f.Type), Name: f.Name, Size: units.FormatSize(f.Size), DownloadURL: link.URL,
		}
	}
	return api.GetResults200JSONResponse(answer), nil
}

// dashboard returns the URL of a simulation in the console, or in the API when
// there is no console.
func (a *API) dashboard(ctx context.Context, simulation string) string {
	console := a.ConsoleURL
	if console == "" {
		console = web.Root(ctx) + "/api/v1"
	}
	return console + "/simulations/" + simulation
}

// window returns a page of a manifest's files, and the position of the next page.
// A position is the number of files before it and the key of the manifest,
// because another manifest may be published between two pages.
func (l listing) window(files []resultFile, manifest string) (shown []resultFile, next []string, err error) {
	from := 0
	if after := l.page.After; after != nil {
		if len(after) != 2 {
			return nil, nil, errCursor()
		}
		if after[1] != manifest {
			return nil, nil, fault.New(fault.Validation, "cursor is expired: the results were published again")
		}
		if from, err = strconv.Atoi(after[0]); err != nil || from < 0 {
			return nil, nil, errCursor()
		}
	}
	files = files[min(from, len(files)):]
	if len(files) <= l.page.Limit {
		return files, nil, nil
	}
	return files[:l.page.Limit], []string{strconv.Itoa(from + l.page.Limit), manifest}, nil
}

// selected returns the files of a type and of a record; "" selects all.
func (s resultSet) selected(kind, record string) []resultFile {
	var out []resultFile
	for _, f := range s.files {
		if (kind == "" || f.Type == kind) && (record == "" || results.RecordOf(s.simulation.Name, f.Name) == record) {
			out = append(out, f)
		}
	}
	return out
}

// GetResultDownload implements GET /simulations/{sim_id}/results/download-url.
func (a *API) GetResultDownload(ctx context.Context, r api.GetResultDownloadRequestObject) (api.GetResultDownloadResponseObject, error) {
	name := r.Params.FileName
	if strings.Contains(name, "..") || strings.HasPrefix(name, "/") {
		return nil, fault.New(fault.Validation, "fileName must hold no '..' and no leading '/', got '%.200s'", name)
	}
	set, err := a.results(ctx, r.SimID)
	if err != nil {
		return nil, err
	}
	f, err := a.resultFile(ctx, set, name)
	if err != nil {
		return nil, err
	}
	link, err := a.link(ctx, &set.simulation, f.Name, f.ContentType)
	if err != nil {
		return nil, err
	}
	return api.GetResultDownload200JSONResponse{
		SimulationID: r.SimID, FileName: f.Name, ContentType: f.ContentType, SizeBytes: f.Size,
		Checksum: "sha256:" + f.SHA256, DownloadURL: link.URL, ExpiresAt: timestamp(link.Expires),
	}, nil
}

// resultFile finds a file by its name: a file that the run published, or a
// summary that was computed later.
func (a *API) resultFile(ctx context.Context, set resultSet, name string) (resultFile, error) {
	i := slices.IndexFunc(set.files, func(f resultFile) bool { return f.Name == name })
	if i >= 0 {
		return set.files[i], nil
	}
	missing := fault.New(fault.NotFound, "simulation %s has no result file '%.200s'", set.simulation.ID, name)
	contentType := summaryTypeOf(name)
	if contentType == "" {
		return resultFile{}, missing
	}
	facts, err := a.summaryFacts(ctx, set.simulation.ResultsPrefix+name)
	if fault.Is(err, fault.NotFound) {
		return resultFile{}, missing
	}
	return resultFile{Name: name, Size: facts.Size, SHA256: facts.SHA256, ContentType: contentType}, err
}

// link returns a download link for a file of the result set.
func (a *API) link(ctx context.Context, s *projections.Simulation, name, contentType string) (objects.Link, error) {
	saveAs := name[strings.LastIndexByte(name, '/')+1:]
	return a.Objects.PresignGet(ctx, s.ResultsPrefix+name, saveAs, contentType, objects.LinkLife)
}
