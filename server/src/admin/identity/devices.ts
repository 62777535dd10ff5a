import { randomUUID } from 'node:crypto'
import type { Operator } from '../ports/operators.ts'
import type { OperatorSecrets } from './operator-secrets.ts'

/** A browser in which an operator logged in, by the token of its cookie. */
type Device = Readonly<{ id: string; operatorId: string; credentials: string }>

/** Browsers keep a cookie for at most 400 days. */
export const DEVICE_MS = 365 * 86_400_000
/** Nothing else that is sealed begins with it. */
const PURPOSE = 'device 1'
/** Cookies of the name that are read: another host of the domain may have set some. */
const READ_MAX = 8

/** The token of a device: sealed, so that it is valid on every process and names its operator to the server alone. */
export function makeDevice(
  secrets: OperatorSecrets,
  { id, credentials }: Pick<Operator, 'id' | 'credentials'>,
  now: number,
) {
  const content = JSON.stringify([PURPOSE, randomUUID(), id, credentials, now + DEVICE_MS])
  return secrets.seal(Buffer.from(content)).toString('base64url')
}

/** The devices of these tokens, without those that we did not make or that have expired. */
export const openDevices = (secrets: OperatorSecrets, tokens: readonly string[], now: number): readonly Device[] =>
  tokens.slice(0, READ_MAX).flatMap((token) => {
    const content = secrets.open(Buffer.from(token, 'base64url'))?.toString() ?? ''
    if (!content.startsWith(`["${PURPOSE}",`)) return []
    const [, id, operatorId, credentials, expiresAt] = JSON.parse(content) as [string, string, string, string, number]
    return now < expiresAt ? [{ id, operatorId, credentials }] : []
  })

/** Whether this operator logged in there, and has the credentials of that time. */
export const isDeviceOf = (device: Device, { id, credentials }: Pick<Operator, 'id' | 'credentials'>): boolean =>
  device.operatorId === id && device.credentials === credentials
