import { runParts } from '../run-parts.ts'
import { checkBrowser } from './browser.ts'
import { checkExternalAuthorization } from './external-authorization.ts'
import { checkExternalProcessing } from './external-processing.ts'
import { checkPasswords } from './passwords.ts'
import { checkRateLimits } from './rate-limits.ts'
import { checkTokens } from './tokens.ts'

/** Checks traffic policies of a running gateway against other implementations of what they speak. */
await runParts('interop:traffic', {
  htpasswd: checkPasswords,
  tokens: checkTokens,
  'rate-limits': checkRateLimits,
  'external-authorization': checkExternalAuthorization,
  'external-processing': checkExternalProcessing,
  browser: checkBrowser,
})
