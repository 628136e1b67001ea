import type { DescField } from '@bufbuild/protobuf'
import type { ReflectMessage } from '@bufbuild/protobuf/reflect'
import { equals } from '#cel/equality.ts'
import { CelError, HostObject, type Result, type Value } from '#cel/index.ts'

/** How a message gets CEL values out of its fields. */
export interface FieldAccess {
  read(message: ReflectMessage, field: DescField): Value
  /** An extension by its full name; undefined when there is none. */
  readExtension(message: ReflectMessage, name: string): { readonly isSet: boolean; readonly value: Value } | undefined
}

const NO_SUCH_FIELD = new CelError('no-such-key', 'no such field')

/** A protobuf message as a CEL value. */
export class MessageValue extends HostObject {
  readonly message: ReflectMessage
  readonly #access: FieldAccess

  constructor(message: ReflectMessage, access: FieldAccess) {
    super()
    this.message = message
    this.#access = access
  }

  get typeName(): string {
    return this.message.desc.typeName
  }

  #field(name: Value): DescField | undefined {
    return this.message.fields.find((field) => field.name === name)
  }

  override member(name: string): Result | undefined {
    const field = this.#field(name)
    if (field !== undefined) return this.#access.read(this.message, field)
    return this.#access.readExtension(this.message, name)?.value
  }

  override has(name: Value): boolean | CelError {
    const field = this.#field(name)
    if (field !== undefined) return this.message.isSet(field)
    const extension = typeof name === 'string' ? this.#access.readExtension(this.message, name) : undefined
    return extension?.isSet ?? NO_SUCH_FIELD
  }

  override isZero(): boolean {
    return this.message.fields.every((field) => !this.message.isSet(field))
  }

  /** Field by field; only what is set counts. */
  override equals(other: Value): boolean {
    if (!(other instanceof MessageValue) || other.typeName !== this.typeName) return false
    if (!equalUnknownFields(this.message, other.message)) return false
    return this.message.fields.every((field) => {
      const isSet = this.message.isSet(field)
      if (isSet !== other.message.isSet(field)) return false
      return !isSet || equals(this.#access.read(this.message, field), this.#access.read(other.message, field))
    })
  }
}

/** Fields that the type does not know, extensions among them, are compared as bytes. */
function equalUnknownFields(a: ReflectMessage, b: ReflectMessage): boolean {
  return unknownBytes(a) === unknownBytes(b)
}

function unknownBytes(message: ReflectMessage): string {
  const fields = (message.getUnknown() ?? []).map(({ no, wireType, data }) => `${no}:${wireType}:${data.join(',')}`)
  return fields.sort().join(';')
}
