import type { Exchange } from '#exchange/exchange.ts'
import { chargeTokens } from '#policies/traffic/rate-limit/index.ts'

/** Charges token limits. Tokens are known only afterwards; they also count if the client has disconnected (decision B38). */
export function chargeTokenLimits(exchange: Exchange): void {
  const total = exchange.llm?.totalTokens
  if (total !== undefined) chargeTokens(exchange, total)
}
