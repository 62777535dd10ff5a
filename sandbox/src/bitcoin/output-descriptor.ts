import { Address, OutScript } from '@scure/btc-signer'
import { parametersOf } from './addresses.ts'
import { CoreError, coreCode } from './core-arguments.ts'

/**
 * The script of an address or of a descriptor `addr(…)` or `raw(…)`. A checksum after `#` is optional and not verified.
 */
export function scriptOf(text: string): Buffer {
  const match = /^(addr|raw)\(([^()]+)\)(?:#[a-z0-9]{8})?$/.exec(text)
  if (match?.[1] === 'raw') {
    if (!/^(?:[0-9a-f]{2})+$/i.test(match[2] ?? '')) throw new CoreError(coreCode.notFound, 'Raw script is not hex')
    return Buffer.from(match[2] ?? '', 'hex')
  }
  try {
    return Buffer.from(OutScript.encode(Address(parametersOf('btc')).decode(match?.[2] ?? text)))
  } catch {
    throw new CoreError(coreCode.notFound, match ? 'Address is not valid' : 'Invalid address')
  }
}
