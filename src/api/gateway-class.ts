import { openObject, optional, required, text } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { objectReference, platformStatus } from './platform-fields.ts'
import { controllerName } from './policy-status.ts'

export const gatewayClass = platformKind('GatewayClass', {
  spec: required(
    openObject({
      controllerName: required(controllerName(), 'Name of the controller that implements the class.'),
      parametersRef: optional(objectReference, 'A ProxyParameters object.'),
      description: optional(text({ max: 64 }), 'Human-readable description.'),
    }),
    'Desired state.',
  ),
  status: platformStatus,
})

export type GatewayClassObject = ObjectOf<typeof gatewayClass>
