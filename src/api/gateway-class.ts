import { formattedText, openObject, optional, required, text } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { objectReference, platformStatus } from './platform-fields.ts'
import { checkControllerName } from './policy-status.ts'

export const gatewayClass = platformKind('GatewayClass', {
  spec: required(
    openObject({
      controllerName: required(formattedText({ min: 1, max: 253 }, checkControllerName), 'Who is responsible.'),
      parametersRef: optional(objectReference, 'A ProxyParameters object.'),
      description: optional(text({ max: 64 }), 'For people.'),
    }),
    'What is wanted.',
  ),
  status: platformStatus,
})

export type GatewayClassObject = ObjectOf<typeof gatewayClass>
