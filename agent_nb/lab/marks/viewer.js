const versions = JSON.parse(document.querySelector("#versions").textContent)
const stage = document.querySelector("#stage")
const slider = document.querySelector("input")
const label = document.querySelector("output")
const { sandbox, width } = stage.dataset

/** A page in a narrower place is scaled down. */
function fit() {
  const scale = Math.min(1, stage.clientWidth / Number(width))
  const size = `width:${stage.clientWidth / scale}px;height:${stage.clientHeight / scale}px`
  stage.firstElementChild.style.cssText = `${size};transform:scale(${scale})`
}

function show() {
  const version = versions[slider.value - 1]
  const frame = document.createElement("iframe")
  frame.setAttribute("sandbox", sandbox)
  frame.title = `Page: ${version.label}`
  frame.srcdoc = version.document
  label.textContent = version.label
  slider.setAttribute("aria-valuetext", version.label)
  stage.replaceChildren(frame)
  fit()
}

slider.addEventListener("input", show)
addEventListener("resize", fit)
show()
