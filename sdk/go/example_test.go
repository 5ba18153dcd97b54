package netsim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	netsim "netsim/sdk/go"
	"netsim/sdk/go/api"
)

var (
	ctx    = context.Background()
	client *netsim.Client // of the examples
	simID  string         // of a completed run
)

func Example_lists() {
	for run, err := range client.AllSimulations(ctx, api.ListSimulationsParams{Status: new("completed")}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(run.ID, run.Name)
	}
}

func ExampleClient_Watch() {
	for event, err := range client.Watch(ctx, simID) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Status)
	}
}

func ExampleClient_WaitStudy() {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	study, err := client.StartStudy(limited, nil, api.StudyStart{
		Name: "which-radix",
		Base: api.StudyBase{Simple: &api.SimpleSubmission{Workload: &api.SimpleWorkload{
			Ranks:  8,
			Phases: []api.SimplePhase{{OperationType: "allReduce", DataSize: 1 << 20}},
		}}},
		Axes: api.StudyAxes{{Field: "topologyConstraints.switchRadix", Values: []any{"64x800G", "128x400G"}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if study, err = client.WaitStudy(limited, study.ID); err != nil {
		log.Fatal(err)
	}
	for point, err := range client.AllStudyResults(ctx, study.ID, api.GetStudyResultsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(point.Point, point.Figures.SimulatedTimePs, point.Fabric.Price)
	}
}

func ExampleClient_Rows() {
	for file, err := range client.AllResults(ctx, simID, api.GetResultsParams{Type: new(api.ResultFileTypeCsv)}) {
		if err != nil {
			log.Fatal(err)
		}
		for row, err := range client.Rows(ctx, simID, file.Name) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(file.Name, row)
			break
		}
	}
}

func Example_versions() {
	templates, err := client.ListTemplates(ctx, &api.ListTemplatesParams{Search: new("Single rack")})
	if err != nil {
		log.Fatal(err)
	}
	mine, err := client.CloneTemplate(ctx, templates.Templates[0].ID, nil, api.TemplateClone{Name: "mine"})
	if err != nil {
		log.Fatal(err)
	}
	read := &api.UpdateConfigurationParams{IfMatch: new(api.Version(mine.Version))}
	for _, name := range []string{"ours", "theirs"} {
		_, err = client.UpdateConfiguration(ctx, mine.ID, read, api.ConfigurationUpdate{Name: name})
	}
	var refusal *netsim.Error
	if errors.Is(err, netsim.ErrConflict) && errors.As(err, &refusal) {
		fmt.Println(refusal.Status, refusal.Code, refusal.Current) // 412, and the version that it has now
	}
}

func ExampleClient_Follow() {
	since := time.Now().Add(-time.Hour)
	params := api.FollowEventsParams{Since: &since, Type: []string{"netsim.simulation.completed.v1"}}
	enough := errors.New("enough")
	err := client.Follow(ctx, params, netsim.FileStore("position"), func(ctx context.Context, e netsim.Event) error {
		fmt.Println(e.Time, e.Subject)
		return enough // or nil, to go on
	})
	if !errors.Is(err, enough) {
		log.Fatal(err)
	}
}

func ExampleClient_Upload() {
	content := bytes.NewReader(make([]byte, 4096)) // or an *os.File
	file := netsim.File{UploadFile: api.UploadFile{Name: "ring.0.et", Size: content.Size()}, Content: content}
	traceset, err := client.Upload(ctx, api.TracesetUpload{Name: "ring"}, []netsim.File{file}, netsim.FileStore("upload"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(traceset.ID, traceset.Status)
}

func ExampleUnwrap() {
	http.HandleFunc("POST /netsim", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			return
		}
		event, err := netsim.Unwrap(body, r.Header, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Println(event.Type, event.Subject)
	})
}
