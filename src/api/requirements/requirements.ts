import { DOCUMENT_1 } from './document-1.ts'
import { DOCUMENT_2 } from './document-2.ts'

/**
 * Every statement of the specification by id. `gatewright fields` prints them. Tests cite the ids they prove (`verifies` of
 * test/support/verifies.ts, or the key `verifies` of a golden case); test/coverage.test.ts holds both sides together and
 * `npm run requirements` reports.
 *
 * An id is `<area>/<what>`. The area is the path of the field in the API: `traffic.csrf`, `frontend.http`,
 * `backend.static`, `parameters.shutdown`, `policy.status`. `backend` is both the kind ProxyBackend and the section of
 * ProxyPolicy, whose fields differ. Structures that several fields share have an area of their own: `authorization`,
 * `location` (of a credential), `logTracingAttributes`, `scalar`, `platform`; so have `health`, `llm.routes`, `idp`, `api`,
 * `resource`, `version`, `secrets`, `tls` and `service`, which are subjects rather than fields. `requirements-of-field.ts` finds the
 * statements about a field.
 */
export const REQUIREMENTS = { ...DOCUMENT_1, ...DOCUMENT_2 }
