import { base58 } from '@scure/base'
import { expect, test } from 'vitest'
import { createSolanaUser } from '../../../../sandbox/src/solana/solana-user.fixture.ts'
import { sol } from '../../../networks/sol.ts'
import { resolveNetwork } from '../../core/domain/network.ts'
import { createSolanaSwapChain } from './chain.ts'
import { readonly, revokeDelegate, signer, transferLamports, writable, writeMemo } from './instructions.ts'
import { token2022Program, tokenProgram } from './program-address.ts'
import { encodeUnsigned, type Instruction } from './transaction.ts'

/* What a signed transaction does that is no swap of ours. The numbers of instructions are those of the token programs' sources. */

// Bytes without lookups are read without a node.
const chain = createSolanaSwapChain({ network: resolveNetwork(sol, 'sandbox'), rpcUrls: ['http://127.0.0.1:1'] })
const blockhash = base58.encode(Buffer.alloc(32, 7))
const user = await createSolanaUser()
const [account, other] = [(await createSolanaUser()).address, (await createSolanaUser()).address]

async function actionOf(...instructions: readonly Instruction[]) {
  const unsigned = encodeUnsigned(user.address, blockhash, instructions).toString('base64')
  return (await chain.readSigned(await user.sign(unsigned))).action
}

const units = [5, 0, 0, 0, 0, 0, 0, 0]
const ofTokens = (program: string, data: readonly number[]): Instruction => ({
  ...{ program, data: new Uint8Array(data) },
  accounts: [writable(account), readonly(other), signer(user.address)],
})

test.for([
  ['Approve', [4, ...units]],
  ['ApproveChecked', [13, ...units, 6]],
  ['SetAuthority', [6, 2, 1, ...base58.decode(other)]],
  ['a batch of one Approve', [255, 3, 9, 4, ...units]],
] as const)('D8: %s, at any place, is an approval that is not relayed', async ([, data]) => {
  for (const program of [tokenProgram, token2022Program]) {
    const granting = ofTokens(program, data)
    expect(await actionOf(granting)).toEqual({ kind: 'unsupported-approval' })
    expect(await actionOf(writeMemo('x'), transferLamports(user.address, other, 5n), granting)).toEqual({
      kind: 'unsupported-approval',
    })
  }
})

test('payments, closings and the end of an approval are none', async () => {
  for (const data of [[3, ...units], [12, ...units, 6], [9], [17]])
    expect(await actionOf(ofTokens(tokenProgram, data))).toBeNull()
  expect(await actionOf(revokeDelegate(account, user.address, tokenProgram))).toBeNull()
  // The same bytes of another program.
  expect(await actionOf(ofTokens(other, [4, ...units]))).toBeNull()
})
