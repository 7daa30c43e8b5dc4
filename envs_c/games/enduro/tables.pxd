"""The colours and shapes of Enduro, and the tables that enduro.pyx computes from them when it is imported."""

from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t


cdef enum:
    MARGIN = 8                # columns left of it are black
    HILLS_AT = 76             # column of the hills if `hills` is 0
    HILL_ROW = 18             # first row of the grey canvas with hills
    GROUND_ROW = 21           # first row with ground and road
    PANEL_ROW = 62            # first row of the panel; it does not change above NUMBERS and from NUMBERS_END on
    NUMBERS = 64              # first row with numbers of the panel
    NUMBERS_END = 77          # first row below them
    PALETTES = 15
    LIGHT_COVER = 14          # COVER begins with 7 cars in 2 states of their wheels; 7 tail lights follow from this index on
    COVER_ROWS = 6, COVER_COLUMNS = 16
    EDGE_LINE = 20            # first row of the grey canvas with edges of the road
    EDGE_PAIRS = 21           # pairs of rows of cells from EDGE_LINE on; a pair covers five rows of pixels
    EDGE_ABOVE = 2            # rows of pixels in the first pair that are above the road
    DOT_WIDE = 16, DOTS = 2 * DOT_WIDE          # cells painted at a time; length of a row of DOT
    CAR_WIDTH = 16
    CLEAR = 14                # within the rows of a car, an edge of the road shifts by fewer columns than this
    TROPHY_FROM = 5           # day from which on a trophy replaces the panel's car
    PLACES = 8                # digits on the panel: 4 of the distance, 1 of the day, 3 of the cars
    DRUM_X = 96, DRUM_Y = 164  # corner of the last digit of the distance
    STAMP_ROWS = 5
    BLACK = 0, RED = 0xA71A1A, SAND = 0xC3903D, GREEN = 0x5CBA5C, OWN = 0xC0C0C0

cdef extern from *:
    """
    // Index of the palette, by frame / 256: two for summer and one more at the end, snow, eight for dusk, night, fog, dawn.
    static const unsigned char PALETTE[52] = {
        0, 0, 0, 0, 1, 1, 1, 1, 14, 14, 14, 14, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10,
        11, 11, 11, 11, 11, 11, 11, 11, 12, 12, 12, 12, 12, 12, 12, 12, 11, 11, 11, 11, 13, 13, 13, 13};
    static const unsigned SKY[15][4] = {  // colours from rows 0, 45, 47 and 49 on
        {0x181AA7, 0x181AA7, 0x181AA7, 0x181AA7}, {0x2D32B8, 0x2D32B8, 0x2D32B8, 0x2D32B8},
        {0x2D32B8, 0x2D32B8, 0x2D32B8, 0x2D32B8}, {0x181AA7, 0x181AA7, 0x181AA7, 0x181AA7},
        {0x181AA7, 0x181AA7, 0x331AA3, 0x68199A}, {0x181AA7, 0x331AA3, 0x68199A, 0x97197A},
        {0x331AA3, 0x68199A, 0x97197A, 0xA71A1A}, {0x68199A, 0x97197A, 0xA71A1A, 0xA33915},
        {0x97197A, 0xA71A1A, 0xA33915, 0xB55328}, {0xA71A1A, 0xA33915, 0xB55328, 0xA26221},
        {0xA33915, 0xB55328, 0xA26221, 0x86861D}, {0x4A4A4A, 0x4A4A4A, 0x4A4A4A, 0x4A4A4A},
        {0x4A4A4A, 0x4A4A4A, 0x4A4A4A, 0x4A4A4A}, {0x6F6F6F, 0x6F6F6F, 0x6F6F6F, 0x6F6F6F},
        {0x2D32B8, 0x2D32B8, 0x2D32B8, 0x2D32B8}};
    static const unsigned GROUND[15] = {
        0x004400, 0x004400, 0xECECEC, 0x143C00, 0x143C00, 0x143C00, 0x143C00, 0x303800, 0x303800, 0x303800, 0x303800,
        0, 0x4A4A4A, 0, 0x004400};
    static const unsigned HILL[15] = {0x86861D, 0x88923E, 0xD6D6D6, 0x004400, 0x004400, 0x004400, 0x004400, 0, 0, 0, 0,
                                      0x8E8E8E, 0x4A4A4A, 0xB55328, 0xC0C0C0};
    // For rows 45 to 50: left and width of the first hill, left and width of the second, left of the first hill's second peak.
    static const unsigned char HILLS_SHAPE[6][5] = {
        {10, 4, 72, 0, 0}, {8, 8, 84, 4, 0}, {6, 12, 82, 12, 22}, {4, 24, 76, 20, 0}, {2, 28, 74, 24, 0}, {0, 32, 72, 28, 0}};
    // Colours of the road's edges from far to near; draw_edges tells when the last is used.
    static const unsigned EDGES[5] = {0x4A4A4A, 0x6F6F6F, 0x8E8E8E, 0xC0C0C0, 0xAAAAAA};
    static const unsigned short SHAPE[7][2][11] = {  // two states of the wheels, the high bit at the left
        {{0x33CC, 0x3FFC, 0x3FFC, 0x33C3, 0xCFFC, 0x3FF3, 0xCFFC, 0x3FF3, 0xCFFC, 0x3FF3, 0xC3CC},
         {0x33CC, 0x3FFC, 0x3FFC, 0xC3CC, 0x3FF3, 0xCFFC, 0x3FF3, 0xCFFC, 0x3FF3, 0xCFFC, 0x33C3}},
        {{0x0F00, 0xFFF0, 0x0F30, 0xFFC0, 0x3FF0, 0xFFC0, 0x3FF0, 0xCF00},
         {0x0F00, 0xFFF0, 0xCF00, 0x3FF0, 0xFFC0, 0x3FF0, 0xFFC0, 0x0F30}},
        {{0x1800, 0x7E00, 0xBE00, 0x7D00, 0xBE00, 0x7D00}, {0x1800, 0x7E00, 0x7D00, 0xBE00, 0x7D00, 0xBE00}},
        {{0x3000, 0xF800, 0x7C00, 0xF800}, {0x3000, 0x7C00, 0xF800, 0x7C00}},
        {{0x6000, 0x7000, 0xE000}, {0x6000, 0xE000, 0x7000}},
        {{0x6000, 0xF000}, {0x6000, 0xF000}}, {{0xC000}, {0xC000}}};
    static const unsigned short LIGHTS_SHAPE[7][3] = {
        {0x3C3C, 0x3C3C, 0x3C3C}, {0xF0F0, 0xF0F0, 0xF0F0}, {0x6600, 0x6600}, {0xCC00, 0xCC00}, {0x9000, 0x9000},
        {0x9000, 0x9000}, {0xC000}};
    static const unsigned char LIGHT_ROWS[7] = {3, 3, 2, 2, 2, 2, 1}, LIGHT_DOWN[7] = {1, 1, 1, 1, 1, 1, 0};
    static const unsigned CARS[16] = {0x8E8E8E, 0xA2A22A, 0xB47A30, 0xC66C3A, 0xC84848, 0xB846A2, 0x9246C0, 0x6848C6, 0x4248C8,
                                      0x4272C2, 0x4288B0, 0x429E82, 0x48A048, 0x6E9C42, 0x88923E, 0xA28638};
    static const unsigned short DIGIT[10][7] = {
        {0x3C00, 0x6600, 0x6600, 0x6600, 0x6600, 0x6600, 0x3C00}, {0x1800, 0x3800, 0x1800, 0x1800, 0x1800, 0x1800, 0x3C00},
        {0x3C00, 0x4600, 0x0600, 0x3C00, 0x6000, 0x6000, 0x7E00}, {0x3C00, 0x4600, 0x0C00, 0x0C00, 0x0600, 0x4600, 0x3C00},
        {0x0C00, 0x1C00, 0x2C00, 0x4C00, 0x7E00, 0x0C00, 0x0C00}, {0x7E00, 0x6000, 0x6000, 0x7C00, 0x0600, 0x4600, 0x7C00},
        {0x3C00, 0x6200, 0x6000, 0x7C00, 0x6600, 0x6600, 0x3C00}, {0x7E00, 0x4200, 0x0600, 0x0C00, 0x1800, 0x1800, 0x1800},
        {0x3C00, 0x6600, 0x6600, 0x3C00, 0x6600, 0x6600, 0x3C00}, {0x3C00, 0x6600, 0x6600, 0x3E00, 0x0600, 0x4600, 0x3C00}};
    static const unsigned short SIGN[7] = {0x4200, 0x7E00, 0x5A00, 0x1800, 0x5A00, 0x7E00, 0x5A00};  // the panel's car
    static const unsigned short TROPHY[8] = {0x7E00, 0x7D00, 0x7D00, 0x7D00, 0x7E00, 0x3800, 0x1000, 0x3800};
    static const unsigned short FLAG[2][8] = {{0x0800, 0x3800, 0x7800, 0x7800, 0x7800, 0x4800, 0x0800, 0x0800},
                                              {0x0800, 0x0E00, 0x0F00, 0x0F00, 0x0F00, 0x0900, 0x0800, 0x0800}};
    static const unsigned char PLACE_X[8] = {64, 72, 80, 88, 56, 80, 88, 96};
    static const unsigned char PLACE_Y[8] = {165, 165, 165, 165, 180, 180, 180, 180};
    // Filled when enduro.pyx is imported, and constant from then on:
    static unsigned char PICTURES[15][84 * 84];                     // grey pictures of sky, ground and panel
    // Grey sums of the rows of hills, without the hills, and of a row of ground:
    static unsigned short SKIES[15][3 * 84], GROUNDS[15][84];
    static unsigned short PANELS[3][13 * 84];                       // grey sums of the panel: with a car; two states of flags
    static unsigned short STAMPS[8][10][5][8], DRUM[80][5][8];      // grey sums of digits by place; last digit by eighths
    static unsigned char COVER[21][40][5][6][16];                   // units that a shape covers, by x modulo 40 and y modulo 5
    static unsigned char HILL_COVER[160][5][84];                    // units that the hills cover, by their column and row part
    // Units of each cell that a pixel covers, by the pixel's place in its first cell; that cell has index 16.
    static unsigned short DOT[40][32];
    """
    const uint8_t[52] PALETTE
    const uint32_t[15][4] SKY
    const uint32_t[15] GROUND, HILL
    const uint8_t[6][5] HILLS_SHAPE
    const uint32_t[5] EDGES
    const uint16_t[7][2][11] SHAPE
    const uint16_t[7][3] LIGHTS_SHAPE
    const uint16_t[7] SIGN
    const uint16_t[8] TROPHY
    const uint8_t[7] LIGHT_ROWS, LIGHT_DOWN
    const uint32_t[16] CARS
    const uint16_t[10][7] DIGIT
    const uint16_t[2][8] FLAG
    const uint8_t[8] PLACE_X, PLACE_Y
    uint8_t[15][84 * 84] PICTURES
    uint16_t[15][3 * 84] SKIES
    uint16_t[15][84] GROUNDS
    uint16_t[3][13 * 84] PANELS
    uint16_t[8][10][5][8] STAMPS
    uint16_t[80][5][8] DRUM
    uint8_t[21][40][5][6][16] COVER
    uint8_t[160][5][84] HILL_COVER
    uint16_t[40][DOTS] DOT
