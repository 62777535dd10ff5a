import {
  associatedTokenProgram,
  computeBudgetProgram,
  memoProgram,
  systemProgram,
  tokenProgram,
} from './program-address.ts'
import type { AccountMeta, Instruction } from './transaction.ts'

/* Instructions of the programs that every validator has. */

export const readonly = (address: string): AccountMeta => ({ address, isSigner: false, isWritable: false })
export const writable = (address: string): AccountMeta => ({ address, isSigner: false, isWritable: true })
export const signer = (address: string): AccountMeta => ({ address, isSigner: true, isWritable: false })
const payer = (address: string): AccountMeta => ({ address, isSigner: true, isWritable: true })

function withU64(head: readonly number[], value: bigint, tail: readonly number[] = []): Uint8Array {
  const number = Buffer.alloc(8)
  number.writeBigUInt64LE(value)
  return new Uint8Array([...head, ...number, ...tail])
}

export function limitUnits(units: number): Instruction {
  const number = Buffer.alloc(4)
  number.writeUInt32LE(units)
  return { program: computeBudgetProgram, accounts: [], data: new Uint8Array([2, ...number]) }
}

/** Millionths of a lamport for a compute unit. */
export const priceUnits = (price: bigint): Instruction => ({
  ...{ program: computeBudgetProgram, accounts: [], data: withU64([3], price) },
})

/** Succeeds if the account exists. */
export const createAssociated = (by: string, account: string, owner: string, mint: string, program: string) =>
  ({
    program: associatedTokenProgram,
    accounts: [
      ...[payer(by), writable(account), readonly(owner), readonly(mint)],
      ...[readonly(systemProgram), readonly(program)],
    ],
    data: new Uint8Array([1]),
  }) satisfies Instruction

/** The token account that such an instruction creates; null for any other instruction. */
export function readCreated({ program, accounts, data }: Instruction) {
  const [, account, owner, mint] = accounts
  if (program !== associatedTokenProgram || data.length !== 1 || data[0] !== 1 || !account || !owner || !mint)
    return null
  return { account: account.address, owner: owner.address, mint: mint.address }
}

export const transferLamports = (from: string, to: string, units: bigint): Instruction => ({
  ...{ program: systemProgram, accounts: [payer(from), writable(to)], data: withU64([2, 0, 0, 0], units) },
})

export const syncNative = (account: string): Instruction => ({
  ...{ program: tokenProgram, accounts: [writable(account)], data: new Uint8Array([17]) },
})

/** Pays all lamports of a token account to its owner. */
export const closeAccount = (account: string, owner: string, program = tokenProgram): Instruction => ({
  program,
  accounts: [writable(account), writable(owner), signer(owner)],
  data: new Uint8Array([9]),
})

/** Takes the right of a delegate, if the account has one. */
export const revokeDelegate = (account: string, owner: string, program: string): Instruction => ({
  program,
  accounts: [writable(account), signer(owner)],
  data: new Uint8Array([5]),
})

/** Leaves the right to close the account to its owner. Fails if another has it: only that one can give it up. */
export const requireNoCloser = (account: string, owner: string, program: string): Instruction => ({
  program,
  accounts: [writable(account), signer(owner)],
  data: new Uint8Array([6, 3, 0]),
})

export type TokenTransfer = Readonly<{
  program: string
  mint: string
  decimals: number
  from: string
  to: string
  owner: string
  units: bigint
}>

export const transferChecked = ({ program, mint, decimals, from, to, owner, units }: TokenTransfer): Instruction => ({
  program,
  accounts: [writable(from), readonly(mint), writable(to), signer(owner)],
  data: withU64([12], units, [decimals]),
})

export const writeMemo = (text: string): Instruction => ({
  ...{ program: memoProgram, accounts: [], data: new Uint8Array(Buffer.from(text)) },
})
