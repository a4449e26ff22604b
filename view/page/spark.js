// spark draws the last minute of a number.

const dark = matchMedia("(prefers-color-scheme: dark)");

export function spark(canvas, past, id) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width) return;
  if (canvas.width !== Math.round(width * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  let top = 0;
  past.each(id, (_, value) => { top = Math.max(top, value); });
  if (canvas.dataset.dark !== String(dark.matches)) {
    canvas.dataset.dark = dark.matches;
    canvas.dataset.color = getComputedStyle(canvas).color;
  }
  g.strokeStyle = canvas.dataset.color;
  g.lineWidth = 1;
  g.beginPath();
  let begun = false;
  past.each(id, (at, value) => {
    const x = at * (width - 1), y = height - 1.5 - (top ? (value / top) * (height - 3) : 0);
    if (begun) g.lineTo(x, y); else g.moveTo(x, y);
    begun = true;
  });
  g.stroke();
}
