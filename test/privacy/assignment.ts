/**
 * The assignment of rows to columns with the least total cost, exactly: the Hungarian method in its form by shortest
 * augmenting paths (Jonker and Volgenant, 1987), O(n³). `costs` has at least as many columns as rows. Returns each row's
 * column.
 */
export function assign(costs: readonly (readonly number[])[]): readonly number[] {
  const rows = costs.length
  const columns = costs[0]?.length ?? 0
  if (columns < rows) throw new Error('there are fewer columns than rows')
  // Counted from 1; 0 stands for "none". Potentials keep all reduced costs at or above zero.
  const ofRow = new Float64Array(rows + 1)
  const ofColumn = new Float64Array(columns + 1)
  const rowAt = new Int32Array(columns + 1)
  const before = new Int32Array(columns + 1)
  for (let row = 1; row <= rows; row++) {
    rowAt[0] = row
    let column = 0
    const least = new Float64Array(columns + 1).fill(Number.POSITIVE_INFINITY)
    const isDone = new Uint8Array(columns + 1)
    do {
      isDone[column] = 1
      column = grow(costs, { ofRow, ofColumn, rowAt, before, least, isDone }, column)
    } while (rowAt[column] !== 0)
    while (column !== 0) {
      const previous = before[column] ?? 0
      rowAt[column] = rowAt[previous] ?? 0
      column = previous
    }
  }
  const result = new Array<number>(rows).fill(-1)
  for (let column = 1; column <= columns; column++) {
    const row = rowAt[column] ?? 0
    if (row > 0) result[row - 1] = column - 1
  }
  return result
}

type Tree = Readonly<{
  ofRow: Float64Array
  ofColumn: Float64Array
  rowAt: Int32Array
  before: Int32Array
  least: Float64Array
  isDone: Uint8Array
}>

/** Adds the closest column to the tree of alternating paths, and answers it. */
function grow(costs: readonly (readonly number[])[], tree: Tree, from: number): number {
  const { ofRow, ofColumn, rowAt, before, least, isDone } = tree
  const row = rowAt[from] ?? 0
  let closest = 0
  let distance = Number.POSITIVE_INFINITY
  for (let column = 1; column < least.length; column++) {
    if (isDone[column]) continue
    const reduced = (costs[row - 1]?.[column - 1] ?? Number.NaN) - (ofRow[row] ?? 0) - (ofColumn[column] ?? 0)
    if (Number.isNaN(reduced)) throw new Error('every row has a cost for every column')
    if (reduced < (least[column] ?? 0)) {
      least[column] = reduced
      before[column] = from
    }
    if ((least[column] ?? 0) < distance) {
      distance = least[column] ?? 0
      closest = column
    }
  }
  for (let column = 0; column < least.length; column++) {
    if (isDone[column]) {
      const owner = rowAt[column] ?? 0
      ofRow[owner] = (ofRow[owner] ?? 0) + distance
      ofColumn[column] = (ofColumn[column] ?? 0) - distance
    } else least[column] = (least[column] ?? 0) - distance
  }
  return closest
}
