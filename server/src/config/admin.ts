import Type, { type StaticDecode } from 'typebox'
import { toBlock } from '../lib/ip-address.ts'
import { duration, section } from './schema.ts'

/** The admin API. Sessions are in milliseconds. */
export type AdminSettings = Readonly<{
  enabled: boolean
  twoPersons: boolean
  /** CIDR blocks; empty = any address. */
  allowedNetworks: readonly string[]
  idleMs: number
  sessionMs: number
}>

export const adminSchema = section({
  enabled: Type.Boolean({
    default: false,
    description:
      'Serves the admin API at `/admin/v1` of API processes. In production SWAPYARD_PUBLIC_URL must be its https URL. `true` in the sandbox',
  }),
  twoPersons: Type.Boolean({
    default: true,
    description:
      'Actions that move money or change limits need the approval of another operator. `false` in the sandbox',
  }),
  allowedNetworks: Type.Array(Type.String({ maxLength: 64 }), {
    default: [],
    maxItems: 100,
    description: 'Addresses or CIDR blocks from which the admin API is used; empty allows any',
  }),
  idle: duration(30 * 60_000, 'A session without a request for this time ends'),
  session: duration(12 * 3_600_000, 'A session ends after this time'),
})

export function toAdminSettings(
  { allowedNetworks, idle, session, ...rest }: StaticDecode<typeof adminSchema>,
  problems: string[],
): AdminSettings {
  const blocks = allowedNetworks.flatMap((text) => {
    const block = toBlock(text)
    if (block === null) problems.push(`SWAPYARD_CONFIG: admin.allowedNetworks: ${text} is no address or CIDR block`)
    return block === null ? [] : [block]
  })
  return { ...rest, allowedNetworks: blocks, idleMs: idle, sessionMs: session }
}
