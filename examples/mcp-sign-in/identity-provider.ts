import { startOAuthIssuer } from '../upstreams/oauth-issuer.ts'

// The identity provider of gateway.yaml. It signs in everybody without a password, so it is for trying only.

const { issuer } = await startOAuthIssuer({}, 9501)
console.log(`${issuer}  identity provider`)
