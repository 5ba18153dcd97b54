package objects

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// LinkLife is how long a download link is valid (document 1, Limits).
const LinkLife = 900 * time.Second

// Link is a URL that needs no token. After it expires the store answers 403.
type Link struct {
	URL     string
	Expires time.Time // the exact time, and no later than the credentials that signed it
}

// PresignGet returns a link that downloads the object as a file with this name and
// content type. The object need not exist. ttl must be in whole seconds.
func (s *Store) PresignGet(ctx context.Context, key, fileName, contentType string, ttl time.Duration) (Link, error) {
	signed := s.now().UTC().Truncate(time.Second) // the precision of a signature
	request, err := s.presign.PresignGetObject(ctx, &s3.GetObjectInput{
		Bucket: &s.bucket, Key: &key,
		ResponseContentType:        &contentType,
		ResponseContentDisposition: aws.String(mime.FormatMediaType("attachment", map[string]string{"filename": fileName})),
	}, func(o *s3.PresignOptions) {
		o.Expires = ttl
		o.Presigner = signerAt{at: signed, signer: o.Presigner}
	})
	if err != nil {
		return Link{}, fmt.Errorf("presign %s: %w", key, err)
	}
	end, err := s.until(ctx, signed, ttl)
	return Link{URL: request.URL, Expires: end}, err
}

// signerAt signs with the given time; the SDK's presigner uses the system clock.
type signerAt struct {
	at     time.Time
	signer s3.HTTPPresignerV4
}

func (s signerAt) PresignHTTP(
	ctx context.Context, credentials aws.Credentials, r *http.Request,
	payloadHash, service, region string, _ time.Time, options ...func(*v4.SignerOptions),
) (string, http.Header, error) {
	return s.signer.PresignHTTP(ctx, credentials, r, payloadHash, service, region, s.at, options...)
}
