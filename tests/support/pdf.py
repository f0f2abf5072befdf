"""Small PDFs, written by hand."""


def pdf_of(*pages: str, trailer: str = "") -> bytes:
    """A PDF with a line of text on each page. `trailer` is put into its last dictionary."""
    kids = " ".join(f"{number} 0 R" for number in range(4, 4 + 2 * len(pages), 2))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in zip(range(5, 5 + 2 * len(pages), 2), pages, strict=True):
        drawing = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET"
        resources = "/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {resources} /Contents {number} 0 R >>")
        objects.append(f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream")
    file, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n"
    return (
        file
        + f"{end}<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{len(file)}\n%%EOF\n".encode()
    )
