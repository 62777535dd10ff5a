import {
  type Address,
  createSolanaRpc,
  generateKeyPairSigner,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getProgramDerivedAddress,
  getTransactionDecoder,
  type Instruction,
  signTransaction,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { findAssociatedTokenPda, getApproveInstruction } from '@solana-program/token'
import { signInstructions } from './sign-instructions.fixture.ts'
import type { SolanaToken } from './solana-market.ts'
import type { startSolanaNode } from './solana-node.ts'

type Node = Awaited<ReturnType<typeof startSolanaNode>>
export type SolanaUser = Awaited<ReturnType<typeof createSolanaUser>>
export type { Instruction } from '@solana/kit'

const bytesOf = (address: string): Uint8Array => new Uint8Array(getAddressEncoder().encode(address as Address))
const systemProgram = '11111111111111111111111111111111' as Address
const lookupTableProgram = 'AddressLookupTab1e1111111111111111111111111' as Address

/** A new key, which signs as wallets do. */
export async function createSolanaUser() {
  const signer = await generateKeyPairSigner()
  return {
    signer,
    address: signer.address,
    /** Base64 of an unsigned transaction to base64 of the signed one. */
    async sign(unsigned: string): Promise<string> {
      const transaction = getTransactionDecoder().decode(Buffer.from(unsigned, 'base64'))
      return getBase64EncodedWireTransaction(await signTransaction([signer.keyPair], transaction as never))
    },
    pay: (to: string, units: bigint): Instruction =>
      getTransferSolInstruction({ source: signer, destination: to as Address, amount: units }),
    approve: (account: string, delegate: string): Instruction =>
      getApproveInstruction({ source: account as Address, delegate: delegate as Address, owner: signer, amount: 1n }),
  }
}

/** The token account that wallets use. */
export const ataOf = async (
  { address: mint, program }: Pick<SolanaToken, 'address' | 'program'>,
  owner: string,
): Promise<Address> => (await findAssociatedTokenPda({ mint, owner: owner as Address, tokenProgram: program }))[0]

/** Sends instructions of the user, and waits until they are final. */
async function sendFrom({ signer }: SolanaUser, node: Node, instructions: readonly Instruction[]): Promise<void> {
  const rpc = createSolanaRpc(node.rpcUrl)
  const { value } = await rpc.getLatestBlockhash().send()
  const wire = await signInstructions(signer, value.blockhash, instructions)
  await rpc.sendTransaction(wire, { encoding: 'base64' }).send()
  node.mine(40)
}

/** A finalized lookup table of these addresses. */
export async function createLookupTable(user: SolanaUser, node: Node, addresses: readonly string[]): Promise<Address> {
  const slotBytes = new Uint8Array(8)
  // A block sees the hashes of its ancestors, not its own.
  const slot = (await createSolanaRpc(node.rpcUrl).getSlot().send()) - 1n
  new DataView(slotBytes.buffer).setBigUint64(0, slot, true)
  const seeds = [bytesOf(user.address), slotBytes]
  const [table, bump] = await getProgramDerivedAddress({ programAddress: lookupTableProgram, seeds })
  const accounts = [
    { address: table, role: 1 },
    { address: user.address, role: 3, signer: user.signer },
    { address: user.address, role: 3, signer: user.signer },
    { address: systemProgram, role: 0 },
  ] as const
  const count = Buffer.alloc(8)
  count.writeBigUInt64LE(BigInt(addresses.length))
  const create = new Uint8Array([0, 0, 0, 0, ...slotBytes, bump])
  const extend = new Uint8Array([2, 0, 0, 0, ...count, ...addresses.flatMap((one) => [...bytesOf(one)])])
  const instructions = [create, extend].map((data) => ({ programAddress: lookupTableProgram, accounts, data }))
  await sendFrom(user, node, instructions)
  return table
}
