export type { Static, TSchema } from 'typebox'
export type { ConfigProblem } from '#base/config-problem.ts'
export { annotate } from './build.ts'
export { type CertainFix, certainFixes, findMistaken } from './certain-fixes.ts'
export { describeGroup, describeRules, describeType } from './describe.ts'
export { host } from './host.ts'
export {
  defaulted,
  deprecated,
  described,
  filesOnly,
  optional,
  required,
  secret,
  withMeanings,
} from './modifiers.ts'
export type {
  DeepReadonly,
  FieldGroup,
  ObjectRule,
  OwnBackend,
  Parsed,
  Reference,
  ScalarName,
  ScalarRefusal,
  SchemaNode,
} from './node.ts'
export { nodeOf } from './node.ts'
export { fieldPath, itemPath, problem } from './problem.ts'
export {
  backendObjectReference,
  configMapReference,
  destination,
  labelSelector,
  localObjectReference,
  REFERENCE_MEANINGS,
  SERVICE_PORT_RULE,
  secretReference,
  secretSelector,
} from './references.ts'
export {
  alpnProtocol,
  boolean,
  byteSize,
  celExpression,
  duration,
  durationOrCel,
  enumOf,
  formattedText,
  groupName,
  headerName,
  httpHeaderName,
  integer,
  intOrString,
  json,
  kindName,
  literal,
  longString,
  namespaceName,
  number,
  objectName,
  port,
  quantity,
  referencedName,
  sectionName,
  shortString,
  sni,
  text,
  tinyString,
} from './scalars.ts'
export { secretsIn, withoutSecrets } from './secrets.ts'
export {
  atLeastOne,
  atMostOne,
  exactlyOne,
  jsonObject,
  list,
  listMap,
  mapOf,
  notEmpty,
  object,
  openObject,
  type RuleView,
  setOf,
  withRule,
} from './structures.ts'
export {
  authorityOf,
  checkPattern,
  cookieName,
  endpointText,
  headerText,
  hostPart,
  pathText,
  patternText,
} from './text-forms.ts'
export { unknownPart } from './unknown-part.ts'
export { type Validation, type ValidationOptions, validate } from './validate.ts'
export { expressionsIn, type Visited, walk } from './walk.ts'
