/**
 * Assigns a column of its own to each row at the least total cost: the Hungarian method with shortest augmenting paths
 * (Jonker and Volgenant, 1987), O(n³). `costs` needs at least as many columns as rows. Returns the column of each row.
 */
export function assign(costs: readonly (readonly number[])[]): readonly number[] {
  const rows = costs.length
  const columns = costs[0]?.length ?? 0
  if (columns < rows) throw new Error(`fewer columns than rows: ${columns} < ${rows}`)
  // Rows and columns count from 1; 0 means none. The potentials keep every reduced cost at or above zero.
  const rowPotentials = new Float64Array(rows + 1)
  const columnPotentials = new Float64Array(columns + 1)
  const rowOfColumn = new Int32Array(columns + 1)
  const previousColumns = new Int32Array(columns + 1)
  for (let row = 1; row <= rows; row++) {
    rowOfColumn[0] = row
    let column = 0
    const minCosts = new Float64Array(columns + 1).fill(Number.POSITIVE_INFINITY)
    const isInTree = new Uint8Array(columns + 1)
    do {
      isInTree[column] = 1
      column = addClosestColumn(
        costs,
        { rowPotentials, columnPotentials, rowOfColumn, previousColumns, minCosts, isInTree },
        column,
      )
    } while (rowOfColumn[column] !== 0)
    while (column !== 0) {
      const previous = previousColumns[column] ?? 0
      rowOfColumn[column] = rowOfColumn[previous] ?? 0
      column = previous
    }
  }
  const result = new Array<number>(rows).fill(-1)
  for (let column = 1; column <= columns; column++) {
    const row = rowOfColumn[column] ?? 0
    if (row > 0) result[row - 1] = column - 1
  }
  return result
}

type Tree = Readonly<{
  rowPotentials: Float64Array
  columnPotentials: Float64Array
  rowOfColumn: Int32Array
  previousColumns: Int32Array
  minCosts: Float64Array
  isInTree: Uint8Array
}>

/** Adds the closest column to the tree of alternating paths and returns it. */
function addClosestColumn(costs: readonly (readonly number[])[], tree: Tree, from: number): number {
  const { rowPotentials, columnPotentials, rowOfColumn, previousColumns, minCosts, isInTree } = tree
  const row = rowOfColumn[from] ?? 0
  let closest = 0
  let distance = Number.POSITIVE_INFINITY
  for (let column = 1; column < minCosts.length; column++) {
    if (isInTree[column]) continue
    const reduced =
      (costs[row - 1]?.[column - 1] ?? Number.NaN) - (rowPotentials[row] ?? 0) - (columnPotentials[column] ?? 0)
    if (Number.isNaN(reduced)) throw new Error(`no cost for row ${row - 1} and column ${column - 1}`)
    if (reduced < (minCosts[column] ?? 0)) {
      minCosts[column] = reduced
      previousColumns[column] = from
    }
    if ((minCosts[column] ?? 0) < distance) {
      distance = minCosts[column] ?? 0
      closest = column
    }
  }
  for (let column = 0; column < minCosts.length; column++) {
    if (isInTree[column]) {
      const assignedRow = rowOfColumn[column] ?? 0
      rowPotentials[assignedRow] = (rowPotentials[assignedRow] ?? 0) + distance
      columnPotentials[column] = (columnPotentials[column] ?? 0) - distance
    } else minCosts[column] = (minCosts[column] ?? 0) - distance
  }
  return closest
}
