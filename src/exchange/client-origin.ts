import type { Exchange } from './exchange.ts'

/**
 * How the client reaches the gateway: `https://tools.example`. The scheme is that of `X-Forwarded-Proto`, which a proxy in front of the
 * gateway sets; no other forwarding field is trusted (decision B74).
 */
export function clientOrigin(exchange: Exchange): string {
  const forwarded = exchange.request.get('x-forwarded-proto')?.toLowerCase()
  const scheme = forwarded === 'http' || forwarded === 'https' ? forwarded : exchange.scheme
  return `${scheme}://${exchange.originalAuthority}`
}
