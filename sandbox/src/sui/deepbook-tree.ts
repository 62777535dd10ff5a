/* The trees in which a DeepBook pool keeps its orders: nodes are dynamic fields under numbers. */
import { bcs } from '@mysten/sui/bcs'
import {
  type BigVector,
  type DeepbookOrderObject,
  deepbookBranchSchema,
  deepbookSliceSchema,
} from '@swapyard/lib/pools/sui/deepbook-objects.ts'
import type { DynamicFields, TypedBytes } from './field-store.ts'

type Node = Readonly<{ id: number; firstKey: string }>

const nameOf = (id: number): TypedBytes => ({ type: 'u64', bytes: bcs.u64().serialize(id).toBytes() })

function chunk<T>(values: readonly T[], size: number): T[][] {
  const chunks: T[][] = []
  for (let at = 0; at < values.length; at += size) chunks.push(values.slice(at, at + size))
  return chunks
}

/**
 * Replaces the nodes of a tree. The contract splits and joins nodes instead, so its nodes may be less full; both have the same orders in
 * the same order.
 */
export function writeOrders(
  fields: DynamicFields,
  address: string,
  tree: BigVector,
  orders: readonly DeepbookOrderObject[],
): BigVector {
  for (let id = 1; id <= Number(tree.lastId); id += 1) fields.remove(tree.id, nameOf(id))
  let lastId = 0
  /** Writes the nodes of one level, each linked with its neighbours. */
  const writeLevel = <T>(
    groups: readonly (readonly T[])[],
    type: string,
    encode: (group: readonly T[], links: Readonly<{ prev: number; next: number }>) => Uint8Array,
  ): readonly number[] => {
    const first = lastId + 1
    lastId += groups.length
    return groups.map((group, place) => {
      const id = first + place
      const links = { prev: place === 0 ? 0 : id - 1, next: place === groups.length - 1 ? 0 : id + 1 }
      const slice = `${address}::big_vector::Slice<${type}>`
      fields.set(tree.id, nameOf(id), { type: slice, bytes: encode(group, links) })
      return id
    })
  }

  const sorted = [...orders].sort((a, b) => (BigInt(a.orderId) < BigInt(b.orderId) ? -1 : 1))
  const leaves = chunk(sorted, Number(tree.maxSliceSize))
  const leafIds = writeLevel(leaves, `${address}::order::Order`, (group, links) =>
    deepbookSliceSchema
      .serialize({ ...links, keys: group.map(({ orderId }) => orderId), values: [...group] })
      .toBytes(),
  )
  let level: readonly Node[] = leaves.map(([order], n) => ({ id: leafIds[n] ?? 0, firstKey: order?.orderId ?? '0' }))
  let depth = 0
  for (; level.length > 1; depth += 1) {
    const groups = chunk(level, Number(tree.maxFanOut))
    const ids = writeLevel(groups, 'u64', (group, links) =>
      deepbookBranchSchema
        .serialize({
          ...links,
          keys: group.slice(1).map(({ firstKey }) => firstKey),
          values: group.map(({ id }) => id),
        })
        .toBytes(),
    )
    level = groups.map(([node], n) => ({ id: ids[n] ?? 0, firstKey: node?.firstKey ?? '0' }))
  }
  const [rootId, length] = [level[0]?.id ?? 0, orders.length].map(String) as [string, string]
  return { ...tree, depth, length, rootId, lastId: lastId.toString() }
}
