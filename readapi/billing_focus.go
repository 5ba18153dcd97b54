package readapi

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"time"

	"netsim/api"
	"netsim/billing/focus"
	"netsim/readapi/access"
)

// WriteDataset writes a FOCUS dataset from one snapshot of the read model.
type WriteDataset func(ctx context.Context, r focus.Request, to io.Writer) error

const (
	// datasetRows bounds a dataset to some ten seconds of work, and 100 MB as CSV.
	datasetRows = 100_000
	// datasetTime is how long a dataset may take to be sent, because a promotion of a read
	// model waits for the snapshot.
	datasetTime = 2 * time.Minute
	// datasetPart is the size of a part of the response. A dataset that is not larger is
	// compared with the cost summary before the response begins.
	datasetPart = 64 << 10
)

// GetFocusDataset implements GET /billing/focus.
func (b *Billing) GetFocusDataset(ctx context.Context, r api.GetFocusDatasetRequestObject) (api.GetFocusDatasetResponseObject, error) {
	headers := api.GetFocusDataset200ResponseHeaders(b.lag(ctx))
	body, err := b.dataset(ctx, r.Params)
	if err != nil {
		return nil, err
	}
	if r.Params.Format == focus.Parquet {
		return api.GetFocusDataset200ApplicationVndApacheParquetResponse{Headers: headers, Body: body}, nil
	}
	return api.GetFocusDataset200TextCsvResponse{Headers: headers, Body: body}, nil
}

// GetFocusDatasetParquet implements GET /billing/focus.parquet.
func (b *Billing) GetFocusDatasetParquet(ctx context.Context, r api.GetFocusDatasetParquetRequestObject) (api.GetFocusDatasetParquetResponseObject, error) {
	headers := api.GetFocusDatasetParquet200ResponseHeaders(b.lag(ctx))
	body, err := b.dataset(ctx, api.GetFocusDatasetParams{
		StartDate: r.Params.StartDate, EndDate: r.Params.EndDate, CreditPrice: r.Params.CreditPrice, Format: focus.Parquet,
	})
	if err != nil {
		return nil, err
	}
	return api.GetFocusDatasetParquet200ApplicationVndApacheParquetResponse{Headers: headers, Body: body}, nil
}

// dataset returns the bytes of a dataset, which has begun.
func (b *Billing) dataset(ctx context.Context, p api.GetFocusDatasetParams) (io.ReadCloser, error) {
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	request := focus.Request{
		AccountID: access.Account(caller), Format: cmp.Or(string(p.Format), focus.CSV), CreditPrice: cmp.Or(p.CreditPrice, "1"),
		Provider: b.Platform, MostRows: datasetRows,
	}
	if request.From, request.To, err = dates(p.StartDate, p.EndDate); err != nil {
		return nil, err
	}
	if err := request.Check(); err != nil {
		return nil, err
	}
	release, err := b.Datasets.begin(ctx, "FOCUS dataset", request.AccountID)
	if err != nil {
		return nil, err
	}
	body := newWrittenBody(ctx, func(ctx context.Context, to io.Writer) error {
		ctx, cancel := context.WithTimeout(ctx, datasetTime)
		defer cancel()
		out := bufio.NewWriterSize(to, datasetPart)
		if err := b.WriteDataset(ctx, request, out); err != nil {
			return err
		}
		return out.Flush()
	}, release)
	if err := body.begin(); err != nil {
		return nil, unreachable(err)
	}
	return body, nil
}
