/** PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d)) */
export function sinusoids(nPositions: number, width: number): number[][] {
  return Array.from({ length: nPositions }, (_, position) =>
    Array.from({ length: width }, (_, column) => {
      const angle = position / 10000 ** ((column - (column % 2)) / width);
      return column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    }),
  );
}
