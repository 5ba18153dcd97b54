package objects

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// renewBefore is how long before their end temporary credentials are renewed.
const renewBefore = 5 * time.Minute

// provider returns the keys of the settings. Without an access key it finds credentials as
// every AWS SDK does: the environment, the token of a web identity, the agent of a
// container, or the metadata of the instance. These are temporary, and renewed in time.
func provider(c Config) aws.CredentialsProvider {
	if c.AccessKey != "" {
		return credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey, "")
	}
	return &role{region: c.Region}
}

// role finds temporary credentials at their first use.
type role struct {
	region string

	mu    sync.Mutex
	chain aws.CredentialsProvider // nil before the first use; a cache
}

// Retrieve returns credentials that do not end within renewBefore, unless they never last
// longer. Expires is when they end.
func (r *role) Retrieve(ctx context.Context) (aws.Credentials, error) {
	chain, err := r.open(ctx)
	if err != nil {
		return aws.Credentials{}, err
	}
	found, err := chain.Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("no access key is set, and no role gives one: %w", err)
	}
	if found.CanExpire {
		found.Expires = found.Expires.Add(renewBefore) // the cache has subtracted it
	}
	return found, nil
}

func (r *role) open(ctx context.Context) (aws.CredentialsProvider, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.chain == nil {
		found, err := config.LoadDefaultConfig(ctx, config.WithRegion(r.region), config.WithCredentialsCacheOptions(renewEarly))
		if err != nil {
			return nil, fmt.Errorf("read the settings of the AWS SDK: %w", err)
		}
		r.chain = found.Credentials
	}
	return r.chain, nil
}

func renewEarly(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = renewBefore }

// newTransport returns connections with bounded waits. It trusts the authorities of the system,
// or those in the file that SSL_CERT_FILE names.
func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: callTimeout,
		MaxIdleConnsPerHost:   64, // of several runs that store their files at the same time
		IdleConnTimeout:       90 * time.Second,
	}
}

// until returns when a link ends that is signed for ttl: temporary credentials can end
// earlier, and their links with them.
func (s *Store) until(ctx context.Context, signed time.Time, ttl time.Duration) (time.Time, error) {
	end := signed.Add(ttl)
	used, err := s.credentials.Retrieve(ctx)
	if err == nil && used.CanExpire && used.Expires.Before(end) {
		end = used.Expires.UTC().Truncate(time.Second)
	}
	return end, err
}
