import type { DescEnum } from '@bufbuild/protobuf'
import { HostObject, type Value } from '#cel/index.ts'

/** A value of an enum that is a type of its own. */
export class EnumValue extends HostObject {
  readonly typeName: string
  readonly number: number

  constructor(desc: Pick<DescEnum, 'typeName'>, number: number) {
    super()
    this.typeName = desc.typeName
    this.number = number
  }

  override equals(other: Value): boolean {
    return other instanceof EnumValue && other.typeName === this.typeName && other.number === this.number
  }

  override toJson(): number {
    return this.number
  }
}
