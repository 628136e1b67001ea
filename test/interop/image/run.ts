import { runParts } from '../run-parts.ts'
import { checkCompose } from './compose.ts'
import { checkContainer } from './container.ts'

/** Checks `install/image` and `install/compose` with Docker and its Compose. */
await runParts('interop:image', { container: checkContainer, compose: checkCompose })
