/** An account as its package reads it: integers of 64 bits and more are its own big integers. */
type Account = Record<string, object>
type Layout = Readonly<{ encode(value: unknown, data: Buffer): number }>

const DISCRIMINATOR_BYTES = 8
const BYTES_MAX = 12_000

/**
 * Writes and reads accounts by the public interface (IDL) that a package carries. The package's own writer stops at 1,000 bytes.
 */
export function anchorAccounts(coder: unknown) {
  const { accountLayouts, decodeUnchecked } = coder as {
    accountLayouts: ReadonlyMap<string, { layout: Layout }>
    decodeUnchecked(name: string, data: Buffer): Account
  }
  return {
    /** An account of zero bytes, discriminator included. */
    zero: (name: string, bytes: number): Account => decodeUnchecked.call(coder, name, Buffer.alloc(bytes)),
    write(name: string, account: unknown): Buffer {
      const data = Buffer.alloc(BYTES_MAX)
      const length = accountLayouts.get(name)?.layout.encode(account, data.subarray(DISCRIMINATOR_BYTES))
      if (length === undefined) throw new Error(`The package knows no account ${name}`)
      return data.subarray(0, DISCRIMINATOR_BYTES + length)
    },
  }
}
