import type { Exchange } from '#exchange/exchange.ts'
import { chargeTokens } from '#policies/traffic/rate-limit/index.ts'

/**
 * Charges token limits. Tokens are known only afterwards; they also count if the client has disconnected, or another attempt replaced the one
 * that used them (decision B38).
 */
export function chargeTokenLimits(exchange: Exchange): void {
  const total = exchange.failedTokens + (exchange.llm?.totalTokens ?? 0)
  if (total > 0) chargeTokens(exchange, total)
}
